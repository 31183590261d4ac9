/** Paid actions, as administrators keep them and buyers find them. Contract: `/api/v3/store/network-apps/` and the app parts of the schema. */

import { type Database, violatedConstraint } from '../../db/database-types.ts'
import type { NetworkApp, Prisma } from '../../db/prisma/client.ts'
import type { EnvelopeCipher, KeyVault } from '../../keys/key-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext, outlived } from '../../shared/idempotency.ts'
import { fromId, newUuid, toId, uuidFrom } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { type ListOrder, searchPatterns } from '../../shared/lists.ts'
import { assertMay, assertUserMay, canAdminister, visibleNetworkApps } from '../../shared/policy.ts'
import { newSecret } from '../../shared/secrets.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import {
  type CreateNetworkAppInput,
  createNetworkAppInputs,
  type NetworkAppFilter,
  networkAppFilter,
  type UpdateNetworkAppInput,
} from './network-app-input.ts'
import {
  countNetworkApps,
  deactivateNetworkApp,
  findSecrets,
  insertNetworkApp,
  listNetworkApps,
  listNetworkAppsBackwards,
  rotateSecret,
  updateNetworkApp,
} from './network-apps.sql.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type NetworkAppQuery = Omit<Prisma.NetworkAppFindManyArgs, 'where'>

/** An app that was changed, and its webhook secret when it was made just now: then is the only time it is seen. */
export interface WithSecret {
  /** The app's UUID. */
  id: string
  /** `whsec_` and 32 bytes in base64, as Standard Webhooks writes secrets. */
  webhookSecret: string | null
}

interface Dependencies {
  database: Database
  envelopeCipher: EnvelopeCipher
  vault: KeyVault
  idempotency: Idempotency
  config: { allowInsecureWebhooks: boolean }
}

const SECRET_BYTES = 32

/** What an app's secrets are sealed for. */
export const webhookSecretContext = (networkAppId: string) => `network-app:${networkAppId}\nwebhook-secret\nv1`

const missing = () => notFound('Network app')

function nameTaken(error: unknown): unknown {
  if (violatedConstraint(error) !== 'network_apps_name_key') return error
  return validationFailed({ name: ['A network app with this name already exists.'] })
}

/** Network apps: what is sold and at what price; for administrators, to keep them, and the secrets that sign their calls. */
export function createNetworkAppService({ database, envelopeCipher, vault, idempotency, config }: Dependencies) {
  const inputs = createNetworkAppInputs({ allowInsecure: config.allowInsecureWebhooks })
  const derivationKey = vault.derive('webhook-secret')

  /** `id` names this one making of a secret. */
  const newWebhookSecret = (id: string, key?: string) =>
    `whsec_${newSecret(derivationKey, id, key, SECRET_BYTES).toString('base64')}`
  const sealFor = (id: string, secret: string) => envelopeCipher.seal(secret, webhookSecretContext(id))

  /** What a change of an app is asked with besides what changes. */
  const changeOf = (actor: Actor, uuid: string, context: IdempotencyContext) => ({
    ...{ app: uuid, subject: toId('app', uuid) },
    ...fingerprintOf(context),
    ...auditorOf(actor),
  })

  /** The UUID of the app that a statement changed. Raises NOT_FOUND, VALIDATION_FAILED when its name is taken. */
  async function changedBy(asked: Promise<{ id: string }[]>): Promise<string> {
    const [changed] = await asked.catch((error: unknown) => {
      throw nameTaken(error)
    })
    if (!changed) throw missing()
    return changed.id
  }

  /** The secret that an earlier request with its key was answered. Raises IDEMPOTENCY_KEY_REUSED. */
  async function replaySecret(uuid: string, making: string, context: IdempotencyContext): Promise<string> {
    const secret = newWebhookSecret(making, context.key)
    const [row] = await database.query(findSecrets, { app: uuid })
    const kept = [row?.webhook_secret, row?.previous_secret].filter((sealed) => sealed != null)
    const signing = await Promise.all(kept.map((sealed) => envelopeCipher.open(sealed, webhookSecretContext(uuid))))
    if (!signing.includes(secret)) throw outlived('the secret that it made was replaced')
    return secret
  }

  const filterOf = (actor: Actor, rawFilter: NetworkAppFilter) => {
    const { name, isActive, search } = parse(networkAppFilter, rawFilter)
    return {
      patterns: searchPatterns(search),
      name: name?.normalize() || null,
      isActive: isActive ?? null,
      onlySold: !canAdminister(actor),
    }
  }

  /** The app with this identifier (`app_…`), or null when there is none that this actor may see. */
  async function find(actor: Actor, id: string, query: NetworkAppQuery = {}): Promise<NetworkApp | null> {
    const found = fromId(id, 'app')
    if (!found) return null
    return database.read.networkApp.findFirst({ ...query, where: { id: found.uuid, ...visibleNetworkApps(actor) } })
  }

  /** The app with this identifier (`app_…`). Raises NOT_AUTHENTICATED, NOT_FOUND. */
  async function get(actor: Actor, id: string, query?: NetworkAppQuery): Promise<NetworkApp> {
    assertMay(actor, 'store:read')
    const app = await find(actor, id, query)
    if (!app) throw missing()
    return app
  }

  return {
    find,
    get,

    /**
     * Apps that match the filter and that this actor may see, newest first by the time of `listOrder`. Without it, the app with exactly the
     * given name comes first. `query` may hold `take` (negative: from the end), `skip` and a `cursor` by UUID, whose own app is the first
     * to be skipped. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.
     */
    async list(
      actor: Actor,
      filter: NetworkAppFilter,
      { listOrder, ...query }: NetworkAppQuery & { listOrder?: ListOrder | null | undefined },
    ): Promise<NetworkApp[]> {
      assertMay(actor, 'store:read')
      const { take, skip = 0, cursor, ...rest } = query
      const backwards = take !== undefined && take < 0
      const rows = await database.query(backwards ? listNetworkAppsBackwards : listNetworkApps, {
        ...filterOf(actor, filter),
        orderBy: listOrder ?? null,
        cursor: cursor?.id ?? null,
        limit: take === undefined ? null : String(Math.abs(take)),
        offset: String(cursor ? skip - 1 : skip),
      })
      const ids = rows.map(({ id }) => id)
      if (backwards) ids.reverse()
      const apps = await database.read.networkApp.findMany({ ...rest, where: { id: { in: ids } } })
      const byId = new Map(apps.map((app) => [app.id, app]))
      return ids.flatMap((id) => byId.get(id) ?? [])
    },

    /** How many apps `list` would give in all. Raises what `list` raises. */
    async count(actor: Actor, filter: NetworkAppFilter): Promise<number> {
      assertMay(actor, 'store:read')
      const [counted] = await database.query(countNetworkApps, filterOf(actor, filter))
      return counted!.count
    },

    /**
     * Registers a paid action; its sales are the actor's. A secret is made when there is a webhook.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, and IDEMPOTENCY_KEY_REUSED for a retry whose secret
     * signs nothing any more.
     */
    async create(actor: Actor, rawInput: CreateNetworkAppInput, context: IdempotencyContext): Promise<WithSecret> {
      assertUserMay(actor, 'store:administer')
      const input = parse(inputs.create, rawInput)
      const { name, price, webhookUrl, deliveryFailurePolicy } = input
      context.isSecret = webhookUrl !== undefined
      let secret: string | null = null
      const id = await idempotency.once(actor, context, 'createNetworkApp', input, async () => {
        const uuid = newUuid()
        const fresh = newWebhookSecret(uuid, context.key)
        const sealed = webhookUrl === undefined ? null : await sealFor(uuid, fresh)
        const facts = {
          owner: actor.id,
          name,
          price,
          url: webhookUrl ?? null,
          secret: sealed,
          policy: deliveryFailurePolicy,
        }
        await changedBy(database.query(insertNetworkApp, { ...changeOf(actor, uuid, context), ...facts }))
        if (sealed) secret = fresh
        return uuid
      })
      if (webhookUrl !== undefined) secret ??= await replaySecret(id, id, context)
      return { id, webhookSecret: secret }
    },

    /**
     * Changes what is given; orders keep the price they were made at. A null URL removes the webhook; a first URL gets a
     * secret, which a rotation shows. Returns the app's UUID.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.
     */
    async update(
      actor: Actor,
      { id, ...rawInput }: UpdateNetworkAppInput & { id: string },
      context: IdempotencyContext,
    ): Promise<string> {
      assertMay(actor, 'store:administer')
      const input = parse(inputs.update, rawInput)
      const uuid = uuidFrom(id, 'app', 'Network app')
      const { name = null, price = null, webhookUrl, deliveryFailurePolicy = null } = input
      return idempotency.once(actor, context, 'updateNetworkApp', { ...input, uuid }, async () => {
        if (Object.values(input).every((value) => value === undefined)) {
          await get(actor, id, { select: { id: true } })
          return idempotency.remember(context, uuid)
        }
        const secret = webhookUrl ? await sealFor(uuid, newWebhookSecret(uuid)) : null
        const webhook = { hasUrl: webhookUrl !== undefined, url: webhookUrl ?? null, secret }
        const facts = { name, price, ...webhook, policy: deliveryFailurePolicy }
        return changedBy(database.query(updateNetworkApp, { ...changeOf(actor, uuid, context), ...facts }))
      })
    },

    /**
     * A new webhook secret. The one before signs calls, too, for another 24 hours.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED when the app has no webhook, and
     * IDEMPOTENCY_KEY_REUSED for a retry whose secret signs nothing any more.
     */
    async rotateWebhookSecret(actor: Actor, id: string, context: IdempotencyContext): Promise<WithSecret> {
      assertMay(actor, 'store:administer')
      const uuid = uuidFrom(id, 'app', 'Network app')
      let secret: string | undefined
      context.isSecret = true
      const making = await idempotency.once(actor, context, 'rotateWebhookSecret', { uuid }, async () => {
        const rotation = `${uuid}:${newUuid()}`
        const fresh = newWebhookSecret(rotation, context.key)
        const { webhookUrl } = await get(actor, id, { select: { webhookUrl: true } })
        if (webhookUrl === null) throw validationFailed({ webhookUrl: ['This network app has no webhook.'] })
        const facts = { secret: await sealFor(uuid, fresh), rotation }
        await changedBy(database.query(rotateSecret, { ...changeOf(actor, uuid, context), ...facts }))
        secret = fresh
        return rotation
      })
      return { id: uuid, webhookSecret: secret ?? (await replaySecret(uuid, making, context)) }
    },

    /**
     * Takes an app out of sale; orders that were made stay as they are. Returns the app's UUID.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND.
     */
    async deactivate(actor: Actor, id: string, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'store:administer')
      const uuid = uuidFrom(id, 'app', 'Network app')
      return idempotency.once(actor, context, 'deactivateNetworkApp', { uuid }, () =>
        changedBy(database.query(deactivateNetworkApp, changeOf(actor, uuid, context))),
      )
    },
  }
}
