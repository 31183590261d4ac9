/** Bytes of files: as they were registered, and with Content Credentials. */
import { z } from 'zod'
import { notFound } from '../domain/errors.ts'
import type { DirectDescription, DirectRequest, DirectRoute } from './define-route.ts'
import { nidParam } from './v3/params.ts'

/** What these routes need of the process. */
export interface FileParts {
  /** Nids of documents that everybody may read: the descriptions of actions. */
  publicDocuments: ReadonlySet<string>
  links: { verify(cid: string, query: URLSearchParams): boolean }
  gateway: {
    send(
      req: DirectRequest['req'],
      res: DirectRequest['res'],
      cid: string,
      query: URLSearchParams,
      file: { mimeType: string; fileName: string },
      audience: 'everybody-for-ever' | 'everybody' | 'owner' | 'everybody-now' | 'owner-now',
    ): Promise<void>
  }
}

const queryOfFiles = {
  format: z
    .enum(['raw', 'car'])
    .optional()
    .describe('`raw`: the one block; `car`: all blocks as a CAR. Else the bytes as they are.'),
  download: z.enum(['true']).optional().describe('Has browsers save the file instead of showing it.'),
  expires: z.string().optional().describe('Part of an address that is good for whoever has it.'),
  signature: z.string().optional().describe('Part of an address that is good for whoever has it.'),
}

/** How bytes are asked for and answered. */
const reading: Pick<DirectDescription, 'tag' | 'access' | 'query' | 'headers' | 'answers'> = {
  tag: 'Files',
  access: 'everybody',
  query: z.object(queryOfFiles),
  headers: z.object({
    Range: z.string().optional().describe('One range of bytes, as in `bytes=0-1023`.'),
    'If-None-Match': z.string().optional().describe('The `ETag` one has: when it is the same, the answer is 304.'),
  }),
  answers: {
    200: { description: 'The file.', mediaType: '*/*', isVersioned: true },
    206: { description: 'The range.', mediaType: '*/*', isVersioned: true },
    304: { description: 'It is as you have it.', isVersioned: true },
    416: { description: 'The range is not one of the file.', isVersioned: true },
  },
}

const fileDescription: DirectDescription = {
  ...reading,
  operationId: 'getFile',
  summary: 'Read a file',
  description:
    'The bytes of an asset that one may see, or of the tree of one of its commits. By `format` or `Accept` it is a trustless gateway, so that a stranger can check what they got.',
  params: z.object({ cid: z.string().describe('The nid of an asset, or the CID of a tree.') }),
}

const c2paDescription: DirectDescription = {
  ...reading,
  operationId: 'getAssetWithContentCredentials',
  summary: 'Read a file with Content Credentials',
  description:
    'A copy of the file with a signed C2PA manifest in it: who made it and what may be done with it, as the newest asset tree says, and the transaction that recorded that. JPEG, PNG, WebP, GIF, TIFF, AVIF, HEIC, MP4 and MOV, at most 50 MB. A manifest that was in the file stays there, as what this one was made from. Made when it is first asked for, and anew after a commit; it is another file than the registered one, under a CID of its own.',
  errors: ['NOT_FOUND', 'UNAVAILABLE', 'VALIDATION_FAILED'],
  params: nidParam,
}

/** Bytes of files, streamed, with ranges. */
export const createFileRoutes = (parts: FileParts): DirectRoute[] => [
  {
    method: 'GET',
    path: '/ipfs/:cid',
    reason: 'Bytes of a file, with ranges, streamed.',
    description: fileDescription,
    handle: (request) => sendFile(parts, request),
  },
  {
    method: 'GET',
    path: '/api/v3/assets/:nid/c2pa',
    reason: 'Bytes of a file, with ranges, streamed.',
    description: c2paDescription,
    handle: (request) => sendSignedFile(parts, request),
  },
]

/** Bytes, raw block and CAR have one address, and what is private has answers for its owner alone: also on refusals. */
const VARY = 'Accept, Authorization'

async function sendFile(
  { gateway, links, publicDocuments }: FileParts,
  { req, res, params, query, context }: DirectRequest,
) {
  const cid = params.cid!
  res.setHeader('Vary', VARY)
  if (publicDocuments.has(cid)) {
    return gateway.send(
      req,
      res,
      cid,
      query,
      { mimeType: 'application/json', fileName: `${cid}.json` },
      'everybody-for-ever',
    )
  }
  const { actor, services } = context
  const linked = links.verify(cid, query)
  const file = await services.assets.findFile(linked ? { kind: 'system' } : actor, cid)
  if (!file) throw notFound('File')
  await gateway.send(req, res, cid, query, file, file.publicAccess ? 'everybody' : 'owner')
}

async function sendSignedFile(
  { gateway, links }: FileParts,
  { req, res, params, query, context: { actor, services } }: DirectRequest,
) {
  const nid = params.nid!
  res.setHeader('Vary', VARY)
  // Who has a link to the file may have it so, too, unless its owner keeps such files.
  const { cid, ...file } = await services.contentCredentials.find(actor, nid, links.verify(nid, query))
  await gateway.send(req, res, cid, query, file, file.publicAccess ? 'everybody-now' : 'owner-now')
}
