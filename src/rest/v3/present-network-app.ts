import type { NetworkAppRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'

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

/** A network app as callers read it. */
export const presentNetworkApp = (app: NetworkAppRecordFragment) => ({
  id: app.id,
  name: app.name,
  price_mode: app.priceMode.toLowerCase(),
  price: app.price,
  webhook_url: app.webhookUrl,
  is_active: app.isActive,
  delivery_failure_policy: app.deliveryFailurePolicy.toLowerCase(),
  created_at: app.createdAt,
  updated_at: app.updatedAt,
})
