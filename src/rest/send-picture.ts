/** Pictures on profiles. A new picture has a new address; a deleted one is gone from copies within minutes. */
import type { DirectRequest, DirectRoute } from './define-route.ts'
import { corsHeaders } from './rest-handler.ts'

const send =
  (thumbnail: boolean): DirectRoute['handle'] =>
  async ({ req, res, params, context }: DirectRequest) => {
    const bytes = await context.services.profiles.readPicture(params.id!, { thumbnail })
    res.writeHead(200, {
      ...corsHeaders,
      'Content-Type': 'image/webp',
      'Content-Length': bytes.length,
      'Cache-Control': 'public, max-age=300, must-revalidate',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    })
    res.end(req.method === 'HEAD' ? undefined : bytes)
  }

const reason = 'Bytes of a picture.'
/** A profile's picture, and its thumbnail, for everybody. */
export const pictureRoutes: DirectRoute[] = [
  { method: 'GET', path: '/pictures/:id', reason, handle: send(false) },
  { method: 'GET', path: '/pictures/:id/thumbnail', reason, handle: send(true) },
]
