/** Pictures on profiles. A new picture has a new address; a deleted one is gone from copies within minutes. */
import { z } from 'zod'
import type { DirectDescription, DirectRequest, DirectRoute } from '../../http/rest/define-route.ts'
import { fileBytes } from '../../http/rest/values.ts'
import { corsHeaders } from '../../http/send.ts'
import { readPicture } from './update-profile.ts'

const send =
  (isThumbnail: boolean): DirectRoute['handle'] =>
  async ({ reply, params, context }: DirectRequest) => {
    const bytes = await readPicture(context, { id: params.id!, isThumbnail })
    reply.headers({
      ...corsHeaders,
      'Content-Type': 'image/webp',
      'Cache-Control': 'public, max-age=300, must-revalidate',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    })
    reply.send(bytes)
  }

const describe = (operationId: string, summary: string): DirectDescription => ({
  ...{ operationId, summary, tag: 'Files', access: 'everybody' },
  params: z.object({ id: z.string().describe('As the address in a profile has it.') }),
  answers: { 200: { description: 'The picture.', mediaType: 'image/webp', schema: fileBytes } },
})

const reason = 'Bytes of a picture.'
/** A profile's picture, and its thumbnail, for everybody. */
export const pictureRoutes: DirectRoute[] = [
  {
    method: 'GET',
    path: '/pictures/:id',
    reason,
    description: describe('getPicture', 'Read a picture of a profile'),
    handle: send(false),
  },
  {
    method: 'GET',
    path: '/pictures/:id/thumbnail',
    reason,
    description: describe('getPictureThumbnail', 'Read a small picture of a profile'),
    handle: send(true),
  },
]
