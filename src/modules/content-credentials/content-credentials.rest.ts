import { z } from 'zod'
import { defineRoute, get } from '../../http/rest/define-route.ts'
import { moment, nidParam, objectOf, sameFields, snakeCased } from '../../http/rest/fields.ts'
import { graphql } from '../../http/rest/generated/index.ts'

const [text, texts] = [z.string().nullable(), z.array(z.string())]

const credentials = objectOf(
  'ContentCredentials',
  'A summary of the C2PA manifest in a file. The signer of the manifest makes these claims, not Annal.',
  sameFields('ContentCredentials', {
    state: z.enum(['TRUSTED', 'VALID', 'INVALID', 'UNREADABLE', 'REMOTE']),
    ...{ trust_list: text, signer: text, issuer: text, signed_at: text, generator: text, title: text },
    ...{ creators: texts, actions: texts, digital_source_type: text, mining: texts, problems: texts },
    ...{ not_checked: texts, remote_manifest_url: text, manifest_count: z.number().int(), checked_at: moment },
  }),
)

const answer = objectOf('AssetContentCredentials', 'The manifest in a registered file.', {
  ...nidParam.shape,
  content_credentials: credentials
    .nullable()
    .describe('Null if the file has no manifest, or if the manifest has not been read yet.'),
})

export const contentCredentialsRoutes = [
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
    answer,
    present: ({ asset }) => ({
      nid: asset!.nid,
      content_credentials: asset!.contentCredentials && snakeCased(asset!.contentCredentials),
    }),
  }),
]
