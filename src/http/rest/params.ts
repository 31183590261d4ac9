/** Parameters of paths. */
import { z } from 'zod'

const idOf = (what: string, prefix: string) =>
  z.object({ id: z.string().describe(`Identifier of the ${what}, as in \`${prefix}_01h2x…\`.`) })

/** The nid of an asset, in any form of a CID. */
export const nidParam = z.object({
  nid: z
    .string()
    .describe(
      'The nid of the asset: the CID of the file’s bytes. Any multibase, version 0 and `ipfs://…` are accepted.',
    ),
})
/** An order. */
export const orderParam = idOf('order', 'order')
/** A withdrawal. */
export const withdrawalParam = idOf('withdrawal', 'withdrawal')
/** A network app. */
export const networkAppParam = idOf('network app', 'app')
/** An API key. */
export const apiKeyParam = idOf('API key', 'key')
/** A session. */
export const sessionParam = idOf('session', 'session')
/** A link to the page of an asset. */
export const assetLinkParam = idOf('link', 'link')
/** An account: by identifier, e-mail address or username. */
export const userParam = z.object({ id: z.string().describe('Identifier, e-mail address or username of the user.') })
/** A webhook delivery. */
export const deliveryParam = idOf('webhook delivery', 'delivery')
