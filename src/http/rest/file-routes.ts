import { z } from 'zod'
import { findBlock, findFile, indexBlocks } from '../../modules/assets/file-blocks.ts'
import { notFound } from '../../shared/errors.ts'
import type { DirectDescription, DirectRequest, DirectRoute } from './define-route.ts'
import { fileBytes, optionalText, optionalWord } from './fields.ts'

export interface FileParts {
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

const linkPart = optionalText('A parameter of a signed URL. Copy it unchanged from the URL.')
const queryOfFiles = {
  format: optionalWord(
    ['raw', 'car'],
    'Response format: `raw` returns one block, `car` returns the blocks of the file as a CAR. `Accept: application/vnd.ipld.raw` or `application/vnd.ipld.car` has the same effect. Default: the bytes of the file.',
  ),
  'dag-scope': optionalWord(
    ['block', 'entity', 'all'],
    'Blocks in a CAR: `block` selects only the first block. `entity` and `all` both select all blocks of the file.',
  ),
  'entity-bytes': optionalText(
    'Byte range `<first>:<last>` that limits the blocks in a CAR, such as `0:1023`. Negative positions count from the end. `*` is the end.',
  ),
  'car-version': optionalWord(['1'], 'Version of the CAR format. `Accept` can also set it.'),
  'car-order': optionalWord(
    ['dfs', 'unk'],
    'Order of the blocks in a CAR. The order is always depth-first. You can also set it as a parameter of the media type in `Accept`.',
  ),
  'car-dups': optionalWord(
    ['y', 'n'],
    'Duplicate blocks in a CAR: `y` repeats a block each time the file contains it, `n` sends it once. You can also set it as a parameter of the media type in `Accept`.',
  ),
  filename: optionalText('File name under which browsers save the file.'),
  download: optionalWord(['true'], 'If `true`, browsers save the file instead of showing it.'),
  ...{ asset: linkPart, expires: linkPart, signature: linkPart },
}

export const readingDescription: Pick<DirectDescription, 'tag' | 'access' | 'query' | 'headers' | 'answers'> = {
  tag: 'Files',
  access: 'everybody',
  query: z.object(queryOfFiles),
  headers: z.object({
    Range: optionalText('A single byte range, as in `bytes=0-1023`.'),
    Accept: optionalText('The requested media type. The parameter `format` takes precedence.'),
    'If-None-Match': optionalText('The `ETag` of an earlier response. Returns 304 if the file is unchanged.'),
  }),
  answers: {
    200: { description: 'The bytes of the file.', mediaType: '*/*', schema: fileBytes, isVersioned: true },
    206: { description: 'The requested byte range.', mediaType: '*/*', schema: fileBytes, isVersioned: true },
    304: { description: 'The file has not changed.', isVersioned: true },
    412: { description: 'The service does not have the file, and the request has `Cache-Control: only-if-cached`.' },
    416: { description: 'The byte range is outside the file.', isVersioned: true },
  },
}

const fileDescription: DirectDescription = {
  ...readingDescription,
  operationId: 'getFile',
  summary: 'Read a file',
  description:
    'Returns the file of an asset that you may read, or the asset tree of one of its commits. With `format` or `Accept`, the route is an IPFS [trustless gateway](https://specs.ipfs.tech/http-gateways/trustless-gateway/): clients can verify the bytes they receive.',
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

/** The format depends on `Accept`, and the access on `Authorization`. */
export const VARY = 'Accept, Authorization'
const octets = (cid: string) => ({ mimeType: 'application/octet-stream', fileName: cid })

const documentOf = ({ gateway, publicDocuments }: FileParts, cid: string) => {
  if (publicDocuments.has(cid)) return { mimeType: 'application/json', fileName: `${cid}.json` }
  return gateway.isProbe(cid) ? octets(cid) : undefined
}

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
  // Annal never fetches files from other IPFS nodes, so a missing file is a cache miss.
  res.writeHead(412, { 'Cache-Control': 'no-store', 'Access-Control-Allow-Origin': '*' }).end()
}
