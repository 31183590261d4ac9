import { z } from 'zod'
import { fileUrl } from '../../context.ts'
import { sendJson } from '../../http/http-server.ts'
import type { DirectDescription, DirectRequest, DirectRoute } from '../../http/rest/define-route.ts'
import { defineRoute, get } from '../../http/rest/define-route.ts'
import { nidParam, objectOf, sameFields, snakeCased, time, url } from '../../http/rest/fields.ts'
import { type FileParts, readingDescription, VARY } from '../../http/rest/file-routes.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { indexBlocks } from '../assets/file-blocks.ts'
import { signedTypeNames } from '../assets/file-types.ts'
import { findSignedCopy } from './signed-copies.ts'

const [text, texts] = [z.string().nullable(), z.array(z.string())]

const credentials = objectOf(
  'ContentCredentials',
  'A summary of the C2PA manifest in a file. The signer of the manifest makes these claims, not Annal.',
  sameFields('ContentCredentials', {
    state: z.enum(['TRUSTED', 'VALID', 'INVALID', 'UNREADABLE', 'REMOTE']),
    ...{ trust_list: text, signer: text, issuer: text, signed_at: text, generator: text, title: text },
    ...{ creators: texts, actions: texts, digital_source_type: text, mining: texts, problems: texts },
    ...{ not_checked: texts, remote_manifest_url: text, manifest_count: z.number().int(), checked_at: time },
  }),
)

const manifestRecord = objectOf('AssetContentCredentials', 'The manifest in a registered file.', {
  ...nidParam.shape,
  content_credentials: credentials.nullable().describe('Null without a manifest, or until the file is read.'),
})

export const routes = [
  defineRoute({
    ...get('assets/:nid/content-credentials', 'getContentCredentials', 'Assets'),
    summary: 'Read the manifest in a file',
    description:
      'Returns a summary of the C2PA manifest in the registered file. A job reads it soon after the registration. The signer of the manifest makes these claims; `state` is the result of the validation. `assets/{nid}/c2pa` returns the file with a manifest by Annal.',
    params: nidParam,
    errors: ['NOT_FOUND'],
    action: 'asset:read',
    operation: graphql(/* GraphQL */ `
    query RestContentCredentials($id: ID!) {
      asset(id: $id) {
        nid
        contentCredentials {
          state trustList signer issuer signedAt generator title creators actions digitalSourceType mining problems notChecked
          remoteManifestUrl manifestCount checkedAt
        }
      }
    }
  `),
    variables: ({ params }) => ({ id: params.nid! }),
    answer: manifestRecord,
    present: ({ asset }) => ({
      nid: asset!.nid,
      content_credentials: asset!.contentCredentials && snakeCased(asset!.contentCredentials),
    }),
  }),
]

const c2paDescription: DirectDescription = {
  ...readingDescription,
  operationId: 'getAssetWithContentCredentials',
  summary: 'Read a file with Content Credentials',
  description: `Returns a copy of the file with a signed C2PA manifest. The manifest states who made the file and how it may be used, from the newest asset tree, and the transaction that recorded the tree. ${signedTypeNames} files of at most 50 MB can have one. A manifest that is already in the file is kept as an ingredient. Annal makes the copy when it is first requested, and again after a commit. The copy has its own CID.`,
  errors: ['NOT_FOUND', 'UNAVAILABLE', 'VALIDATION_FAILED'],
  params: nidParam,
}

const signedFileRecord = objectOf('FileWithContentCredentials', 'The address of a file with Content Credentials.', {
  url: url.describe('Download URL. For a file that only you may read, the URL works for at least an hour.'),
  cid: z.string().describe('CID of the file.'),
})

const signDescription: DirectDescription = {
  operationId: 'createFileWithContentCredentials',
  tag: 'Files',
  access: 'everybody',
  summary: 'Get the URL of a file with Content Credentials',
  description:
    'Creates the file that `GET` at the same path sends, unless it exists, and returns its URL. The body of the request is ignored.',
  errors: ['NOT_FOUND', 'UNAVAILABLE', 'VALIDATION_FAILED'],
  params: nidParam,
  answers: { 200: { description: 'The URL and the CID.', mediaType: 'application/json', schema: signedFileRecord } },
}

export const createDirectRoutes = (parts: FileParts): DirectRoute[] => [
  {
    method: 'GET',
    path: '/api/v3/assets/:nid/c2pa',
    description: c2paDescription,
    handle: (request) => sendSignedFile(parts, request),
  },
  { method: 'POST', path: '/api/v3/assets/:nid/c2pa', description: signDescription, handle: sendSignedFileUrl },
]

async function sendSignedFile({ gateway, links }: FileParts, { req, res, params, query, context }: DirectRequest) {
  const nid = params.nid!
  res.setHeader('Vary', VARY)
  // A link to the file also gives access to its signed copy, unless the owner disabled it.
  const { cid, ...file } = await findSignedCopy(context, nid, links.verify(nid, query))
  const audience = file.publicAccess ? 'everybody-now' : 'owner-now'
  await gateway.send(req, res, cid, query, file, audience, () => indexBlocks(context, cid))
}

async function sendSignedFileUrl(request: DirectRequest) {
  const { context, params } = request
  const file = await findSignedCopy(context, params.nid!)
  sendJson(request.reply, { url: fileUrl(context, file), cid: file.cid })
}
