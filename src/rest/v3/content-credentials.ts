import { z } from 'zod'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { moment, same } from '../values.ts'
import { nidParam } from './params.ts'

const words = (field: string) => same(`ContentCredentials.${field}`, z.string().nullable())
const several = (field: string) => same(`ContentCredentials.${field}`, z.array(z.string()))

const credentials = z
  .object({
    state: same('ContentCredentials.state', z.enum(['TRUSTED', 'VALID', 'INVALID', 'UNREADABLE'])),
    trust_list: words('trustList'),
    signer: words('signer'),
    issuer: words('issuer'),
    signed_at: words('signedAt'),
    generator: words('generator'),
    title: words('title'),
    creators: several('creators'),
    actions: several('actions'),
    digital_source_type: words('digitalSourceType'),
    mining: several('mining'),
    problems: several('problems'),
    manifest_count: same('ContentCredentials.manifestCount', z.number().int()),
    checked_at: same('ContentCredentials.checkedAt', moment),
  })
  .meta({ id: 'ContentCredentials', description: 'What the manifest in a file claims: the word of whoever signed it.' })

const answer = z
  .object({
    ...nidParam.shape,
    content_credentials: credentials.nullable().describe('Null when there is none, or none that was read yet.'),
  })
  .meta({ id: 'AssetContentCredentials', description: 'The manifest that a registered file brought along.' })

const read = defineRoute({
  method: 'GET',
  path: 'assets/:nid/content-credentials',
  operationId: 'getContentCredentials',
  tag: 'Assets',
  summary: 'Read what the manifest in a file claims',
  description:
    'Of the file as it was registered, read soon after. It is the word of whoever signed it: `state` says how far that can be believed, and by which list. `assets/{nid}/c2pa` gives the file with a manifest of this service.',
  params: nidParam,
  errors: ['NOT_FOUND'],
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestContentCredentials($id: ID!) {
      asset(id: $id) {
        nid
        contentCredentials {
          state
          trustList
          signer
          issuer
          signedAt
          generator
          title
          creators
          actions
          digitalSourceType
          mining
          problems
          manifestCount
          checkedAt
        }
      }
    }
  `),
  variables: ({ params }) => ({ id: params.nid! }),
  answer,
  present: ({ asset }) => {
    const { nid, contentCredentials: found } = asset!
    return {
      nid,
      content_credentials: found && {
        state: found.state,
        trust_list: found.trustList,
        signer: found.signer,
        issuer: found.issuer,
        signed_at: found.signedAt,
        generator: found.generator,
        title: found.title,
        creators: found.creators,
        actions: found.actions,
        digital_source_type: found.digitalSourceType,
        mining: found.mining,
        problems: found.problems,
        manifest_count: found.manifestCount,
        checked_at: found.checkedAt,
      },
    }
  },
})

/** What manifests in registered files claim. */
export const contentCredentialsRoutes = [read]
