/** The route that returns the bytes of registered files, and its documentation. */
import { z } from 'zod'
import { findBlock, findFile, indexBlocks } from '../../modules/assets/file-blocks.ts'
import { notFound } from '../../shared/errors.ts'
import type { DirectDescription, DirectRequest, DirectRoute } from './define-route.ts'
import { fileBytes, optionalText, optionalWord } from './values.ts'

export interface FileParts {
  /** Nids of public documents, which describe actions. */
  publicDocuments: ReadonlySet<string>
  links: { verify(cid: string, query: URLSearchParams): string | undefined }
  gateway: {
    send(
      req: DirectRequest['req'],
      res: DirectRequest['res'],
      cid: string,
      query: URLSearchParams,
      file: { mimeType: string; fileName: string },
      audience: 'everybody-for-ever' | 'everybody' | 'owner' | 'everybody-now' | 'owner-now',
      takeApart?: () => Promise<void>,
    ): Promise<void>
    nameOf(cid: string): string
    isProbe(cid: string): boolean
  }
}

const linkPart = optionalText('Part of a signed URL.')
const queryOfFiles = {
  format: optionalWord(
    ['raw', 'car'],
    '`raw` returns one block, `car` its blocks as a CAR. `Accept: application/vnd.ipld.raw` or `application/vnd.ipld.car` has the same effect. Default: the bytes of the file.',
  ),
  'dag-scope': optionalWord(
    ['block', 'entity', 'all'],
    'For a CAR: the first block only, or all blocks of the file (`entity` and `all` are equal).',
  ),
  'entity-bytes': optionalText(
    'For a CAR: only the blocks of a range of bytes, first and last, such as `0:1023`. Negative positions count from the end. `*` is the end.',
  ),
  'car-version': optionalWord(['1'], 'For a CAR: its version. Also a parameter of the type in `Accept`.'),
  'car-order': optionalWord(
    ['dfs', 'unk'],
    'For a CAR: the order of its blocks, always depth first. Also a parameter of the media type in `Accept`.',
  ),
  'car-dups': optionalWord(
    ['y', 'n'],
    'For a CAR: `y` repeats a block each time the file contains it, `n` sends it once. Also a parameter of the media type in `Accept`.',
  ),
  filename: optionalText('The name under which browsers save it.'),
  download: optionalWord(['true'], 'Has browsers save the file instead of showing it.'),
  ...{ asset: linkPart, expires: linkPart, signature: linkPart },
}

/** Documentation shared by the routes that return bytes. */
export const readingDescription: Pick<DirectDescription, 'tag' | 'access' | 'query' | 'headers' | 'answers'> = {
  tag: 'Files',
  access: 'everybody',
  query: z.object(queryOfFiles),
  headers: z.object({
    Range: optionalText('One range of bytes, as in `bytes=0-1023`.'),
    Accept: optionalText('The requested format. The parameter `format` takes precedence.'),
    'If-None-Match': optionalText('The `ETag` of an earlier response. Returns 304 if it has not changed.'),
  }),
  answers: {
    200: { description: 'The file.', mediaType: '*/*', schema: fileBytes, isVersioned: true },
    206: { description: 'The range.', mediaType: '*/*', schema: fileBytes, isVersioned: true },
    304: { description: 'Not modified.', isVersioned: true },
    412: { description: 'The service does not have the file, and the request has `Cache-Control: only-if-cached`.' },
    416: { description: 'The range is outside the file.', isVersioned: true },
  },
}

const fileDescription: DirectDescription = {
  ...readingDescription,
  operationId: 'getFile',
  summary: 'Read a file',
  description:
    'The bytes of an asset that one may see, or of the tree of one of its commits. By `format` or `Accept` it is a [trustless gateway](https://specs.ipfs.tech/http-gateways/trustless-gateway/), so that a stranger can check what they got, and any client of the file network reads from it.',
  params: z.object({
    cid: z
      .string()
      .describe('The nid of an asset, or the CID of a tree or of a block. Any multibase and version 0 are accepted.'),
  }),
}

export const createFileRoutes = (parts: FileParts): DirectRoute[] => [
  {
    method: 'GET',
    path: '/ipfs/:cid',
    description: fileDescription,
    handle: (request) => sendFile(parts, request),
  },
]

/** Value of `Vary` for files and errors: the format depends on `Accept`, and access on the caller. */
export const VARY = 'Accept, Authorization'

const octets = (cid: string) => ({ mimeType: 'application/octet-stream', fileName: cid })

const documentOf = ({ gateway, publicDocuments }: FileParts, cid: string) => {
  if (publicDocuments.has(cid)) return { mimeType: 'application/json', fileName: `${cid}.json` }
  return gateway.isProbe(cid) ? octets(cid) : undefined
}

/** Returns the file or block of a CID that the caller may read. */
async function findReadable({ links }: FileParts, { query, context }: DirectRequest, cid: string) {
  const file = await findFile(context, cid, links.verify(cid, query))
  if (file) return { ...file, takeApart: () => indexBlocks(context, cid) }
  const block = await findBlock(context, cid)
  return block && { ...block, ...octets(cid), takeApart: undefined }
}

async function sendFile(parts: FileParts, request: DirectRequest) {
  const { req, res, params, query } = request
  res.setHeader('Vary', VARY)
  const cid = parts.gateway.nameOf(params.cid!)
  const document = documentOf(parts, cid)
  if (document) return parts.gateway.send(req, res, cid, query, document, 'everybody-for-ever')
  const file = await findReadable(parts, request, cid)
  if (file) {
    const audience = file.publicAccess ? 'everybody' : 'owner'
    return parts.gateway.send(req, res, cid, query, file, audience, file.takeApart)
  }
  if (!/\bonly-if-cached\b/.test(req.headers['cache-control'] ?? '')) throw notFound('File')
  // Annal never fetches files from elsewhere.
  res.writeHead(412, { 'Cache-Control': 'no-store', 'Access-Control-Allow-Origin': '*' }).end()
}
