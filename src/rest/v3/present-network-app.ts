import { z } from 'zod'
import type { NetworkAppRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { lowerCase } from '../lower-case.ts'
import { amount, moment, same, url } from '../values.ts'

/** What is read of a network app. */
export const NetworkAppRecord = graphql(/* GraphQL */ `
  fragment NetworkAppRecord on NetworkApp {
    id
    name
    priceMode
    price
    webhookUrl
    isActive
    deliveryFailurePolicy
    createdAt
    updatedAt
  }
`)

/** What becomes of a paid order whose webhook was given up, in lower case. */
export const deliveryFailurePolicy = z.enum(['keep', 'refund'])
/** How a price is made, in lower case. */
export const priceMode = z.enum(['fixed'])

/** A network app as it is answered. */
export const networkAppRecord = z
  .object({
    id: same('NetworkApp.id', z.string()),
    name: same('NetworkApp.name', z.string()),
    price_mode: same('NetworkApp.priceMode', priceMode),
    price: same('NetworkApp.price', amount),
    webhook_url: same('NetworkApp.webhookUrl', url.nullable()),
    is_active: same('NetworkApp.isActive', z.boolean()),
    delivery_failure_policy: same('NetworkApp.deliveryFailurePolicy', deliveryFailurePolicy),
    created_at: same('NetworkApp.createdAt', moment),
    updated_at: same('NetworkApp.updatedAt', moment),
  })
  .meta({ id: 'NetworkApp', description: 'A paid action with a price and, optionally, a webhook.' })

/** The same in the answers that show the secret of its webhook, which no other does. */
export const networkAppWithSecret = networkAppRecord
  .extend({ webhook_secret: same('CreateNetworkAppPayload.webhookSecret', z.string().nullable()) })
  .meta({ id: 'NetworkAppWithSecret', description: 'A network app and the secret of its webhook, shown this once.' })

/** A network app as callers read it. */
export const presentNetworkApp = (app: NetworkAppRecordFragment): z.output<typeof networkAppRecord> => ({
  id: app.id,
  name: app.name,
  price_mode: lowerCase(app.priceMode),
  price: app.price,
  webhook_url: app.webhookUrl,
  is_active: app.isActive,
  delivery_failure_policy: lowerCase(app.deliveryFailurePolicy),
  created_at: app.createdAt,
  updated_at: app.updatedAt,
})
