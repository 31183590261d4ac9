/** Everything that is kept of a person, as a file. */
import { z } from 'zod'
import type { DirectDescription, DirectRequest } from '../../http/rest/define-route.ts'
import { sendDownload } from '../../http/send.ts'
import { streamExport } from './export-account.ts'

/** Documentation of the export route. */
export const exportDescription: DirectDescription = {
  operationId: 'exportMe',
  tag: 'Account',
  summary: 'Download everything that is kept of oneself',
  access: 'user',
  answers: {
    200: {
      description: 'The document, as a file.',
      mediaType: 'application/json',
      schema: z
        .looseObject({})
        .meta({ id: 'Export', description: 'The account, and a list of each kind of thing that is kept of it.' }),
    },
  },
}

/** Streams the actor's export as a download. Throws NOT_AUTHENTICATED, THROTTLED, UNAVAILABLE before anything is sent. */
export async function sendExport({ req, res, context }: DirectRequest): Promise<void> {
  const file = { name: 'my-data.json', mediaType: 'application/json' }
  await streamExport(context, (content) => sendDownload(req, res, { ...file, content }))
}
