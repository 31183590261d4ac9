/** Network apps: paid actions that administrators sell. Includes the secrets that sign their webhook requests. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import { violatedConstraint } from '../../db/database-types.ts'
import type { DeliveryFailurePolicy, NetworkApp, Prisma } from '../../db/prisma/client.ts'
import {
  arrayOf,
  bigint,
  boolean,
  bytes,
  int,
  numeric,
  orNull,
  type SqlType,
  statement,
  text,
  textOf,
  uuid,
} from '../../db/sql.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import * as idempotent from '../../shared/idempotency.ts'
import { fromId, newSecret, newUuid, toId, uuidFrom } from '../../shared/ids.ts'
import { checked, parse, requiredDisplayName, trimmedText } from '../../shared/input.ts'
import { createReader, type ListOrder, MAX_COUNTED, searchPatterns } from '../../shared/lists.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { type Actor, assertMay, assertUserMay, canAdminister, visibleNetworkApps } from '../../shared/policy.ts'
import { type AuditAction, audited, auditorOf, auditSql } from '../audit/audit-sql.ts'
import { webhookUrlProblem } from '../webhooks/webhook-sender.ts'

type SecretContext = idempotent.IdempotentContext & Use<'envelopeCipher' | 'vault'>

type NetworkAppQuery = Omit<Prisma.NetworkAppFindManyArgs, 'where'>

/** UUID of a changed app, with its new webhook secret. Null for an app without a webhook. */
type AppWithSecret = { id: string; webhookSecret: string | null }

const SECRET_BYTES = 32

export const webhookSecretContext = (networkAppId: string) => `network-app:${networkAppId}\nwebhook-secret\nv1`

const name = requiredDisplayName(100)
  .transform((value) => value.normalize())
  // `createOrder` accepts an ID or a name, so a name must not look like an ID.
  .refine((value) => !fromId(value), 'A name may not look like an identifier.')

const price = trimmedText(100)
  .refine((value) => !/^-\d/.test(value), 'Ensure this value is greater than or equal to 0.')
  .refine(
    (value) => /^-?\d{1,12}(\.\d{1,18})?$/.test(value),
    'Expected an amount such as 0.5, with at most 12 digits before and 18 digits after the decimal point.',
  )
  .transform((value) => fromUnits(toUnits(value)))
const deliveryFailurePolicy = z.enum(['KEEP', 'REFUND'], { error: 'Expected KEEP or REFUND.' })

/** Schema of a webhook URL. The development setting `allowInsecureWebhooks` also allows http and internal addresses. */
const webhookUrl = ({ config }: Use<'config'>) =>
  checked(trimmedText(2048), (url) => webhookUrlProblem(url, { allowInsecure: config.store.allowInsecureWebhooks }))

const createInput = (context: Use<'config'>) =>
  z.strictObject({
    ...{ name, price, webhookUrl: webhookUrl(context).optional() },
    priceMode: z.literal('FIXED', { error: 'Expected FIXED.' }).default('FIXED'),
    deliveryFailurePolicy: deliveryFailurePolicy.default('KEEP'),
  })

/** Schema of an update. A URL of null removes the webhook. */
const updateInput = (context: Use<'config'>) =>
  z.strictObject({ name, price, webhookUrl: webhookUrl(context).nullable(), deliveryFailurePolicy }).partial()

const filterInput = z
  .strictObject({ name: trimmedText(100), isActive: z.boolean(), search: z.string() })
  .extend({ orderBy: z.enum(['CREATED_AT', 'UPDATED_AT']) })
  .partial()

type NetworkAppFilter = z.input<typeof filterInput>

/** Filter parameters. Null values are ignored. `onlySold`: true for callers who may not read deactivated apps. */
const filterParameters = { name: orNull(text), isActive: orNull(boolean), onlySold: boolean, patterns: arrayOf(text) }
const matchesSql = `name ilike all ($patterns) and ($name is null or position(lower($name) in lower(name)) > 0)
  and ($isActive is null or (deactivated_at is null) = $isActive) and (not $onlySold or deactivated_at is null)`

/**
 * Reads a page of apps. `direction`: 1 for a page from the start, -1 from the end. Without `orderBy`, an app with exactly
 * the given name comes first, because clients use the first result. The app of the cursor need not match the filter.
 */
const listStatement = statement(
  'network_app_list',
  {
    parameters: {
      ...{ ...filterParameters, orderBy: orNull(textOf<ListOrder>()), cursor: orNull(uuid), direction: int },
      ...{ limit: orNull(bigint), offset: bigint },
    },
    columns: { id: uuid },
    isList: true,
  },
  `with ranked as (
     select id, name, deactivated_at, $direction * row_number() over (
       order by $orderBy is null and lower(name) is not distinct from lower($name) desc,
         case $orderBy when 'UPDATED_AT' then updated_at else created_at end desc, id desc) as position
     from network_apps
   )
   select id from ranked
   where ${matchesSql} and ($cursor is null or position > (select position from ranked where id = $cursor))
   order by position limit $limit offset $offset`,
)

const countStatement = statement(
  'network_app_count',
  { parameters: filterParameters, columns: { count: int }, isList: true },
  `select count(*)::int as count from (select from network_apps where ${matchesSql} limit ${MAX_COUNTED}) counted`,
)

export const networkAppReader = createReader<NetworkApp, NetworkAppQuery>()({
  ...{ model: 'networkApp', prefix: 'app', label: 'Network app', action: 'store:read', orderBy: [] },
  visible: visibleNetworkApps,
  where: () => ({}),
})

function filterParams(actor: Actor, rawFilter: NetworkAppFilter) {
  const { name, isActive, search } = parse(filterInput, rawFilter)
  return {
    patterns: searchPatterns(search),
    name: name?.normalize() || null,
    isActive: isActive ?? null,
    onlySold: !canAdminister(actor),
  }
}

/**
 * Lists apps, newest first by `orderBy`. `take` is negative for a page from the end. Throws NOT_AUTHENTICATED,
 * VALIDATION_FAILED.
 */
export async function listNetworkApps(
  { actor, database }: Use<'actor' | 'database'>,
  filter: NetworkAppFilter,
  query: NetworkAppQuery,
): Promise<NetworkApp[]> {
  assertMay(actor, 'store:read')
  const { take, skip = 0, cursor, ...rest } = query
  const isBackwards = Number(take) < 0
  const rows = await database.query(listStatement, {
    ...filterParams(actor, filter),
    direction: isBackwards ? -1 : 1,
    ...{ orderBy: filter.orderBy ?? null, cursor: cursor?.id ?? null },
    limit: take === undefined ? null : String(Math.abs(take)),
    // Prisma's `skip` counts the app of the cursor, but the statement starts after it.
    offset: String(cursor ? skip - 1 : skip),
  })
  const ids = rows.map(({ id }) => id)
  const apps = await database.read.networkApp.findMany({ ...rest, where: { id: { in: ids } } })
  const byId = new Map(apps.map((app) => [app.id, app]))
  const found = ids.flatMap((id) => byId.get(id) ?? [])
  return isBackwards ? found.reverse() : found
}

export async function countNetworkApps({ actor, database }: Use<'actor' | 'database'>, filter: NetworkAppFilter) {
  assertMay(actor, 'store:read')
  const [counted] = await database.query(countStatement, filterParams(actor, filter))
  return counted!.count
}

const policy = textOf<DeliveryFailurePolicy>('delivery_failure_policy')

/** Parameters of all statements that change an app. `subject`: the public ID of the app. */
const change = { app: uuid, subject: text, ...idempotent.onceTypes, ...audited }

/**
 * Defines a statement that changes an app and adds an audit entry. `ctes` ends with `changed_app (id)`, which has no row
 * if the change is not possible. `result`: SQL of the result that is stored with the idempotency key.
 */
const changeStatement = <Parameters extends Record<string, SqlType<unknown>>>(
  name: string,
  parameters: Parameters,
  [action, ctes, result = 'changed_app.id::text']: [action: AuditAction, ctes: string, result?: string],
) =>
  statement(
    name,
    { parameters: { ...change, ...parameters }, columns: { id: uuid } },
    `with ${ctes},
     ${auditSql({ from: 'changed_app', user: '$actor', action, subject: '$subject', address: '$address' })},
     ${idempotent.onceSql(result, 'changed_app')}
     select id from changed_app`,
  )

/** Inserts an app. Violates the index `network_apps_name_key` for a used name. Returns no row for a deleted owner. */
const insertApp = changeStatement(
  'network_app_insert',
  { owner: uuid, name: text, price: numeric, url: orNull(text), secret: orNull(bytes), policy },
  [
    'network-app.created',
    `locked_owner as materialized (
       select id from users where id = $owner and deleted_at is null for share
     ),
     changed_app as (
       insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret, delivery_failure_policy)
       select $app, id, $name, $price, $url, $secret, $policy from locked_owner returning id
     )`,
  ],
)

/** Updates the columns whose parameters are not null. `hasUrl`: true if the URL changes, which enables the webhook. */
const updateApp = changeStatement(
  'network_app_update',
  {
    ...{ name: orNull(text), price: orNull(numeric), policy: orNull(policy) },
    ...{ hasUrl: boolean, url: orNull(text), secret: orNull(bytes) },
  },
  [
    'network-app.updated',
    `changed_app as (
       update network_apps set name = coalesce($name, name), price = coalesce($price, price),
         webhook_url = case when $hasUrl then $url else webhook_url end,
         webhook_secret = case when $url is null then webhook_secret else coalesce(webhook_secret, $secret) end,
         webhook_disabled_at = case when $hasUrl then null else webhook_disabled_at end,
         delivery_failure_policy = coalesce($policy, delivery_failure_policy), updated_at = now()
       where id = $app returning id
     )`,
  ],
)

const findSecrets = statement(
  'network_app_secrets',
  { parameters: { app: uuid }, columns: { webhook_secret: orNull(bytes), previous_secret: orNull(bytes) } },
  `select webhook_secret, case when previous_secret_expires_at > now() then previous_secret end as previous_secret
   from network_apps where id = $app`,
)

/** Replaces a webhook secret, which stays valid for 24 hours. Returns no row for an app without a webhook. */
const rotateSecret = changeStatement('network_app_rotate_secret', { secret: bytes, rotation: text }, [
  'network-app.secret-rotated',
  `changed_app as (
     update network_apps set previous_secret = webhook_secret, previous_secret_expires_at = now() + interval '24 hours',
       webhook_secret = $secret, updated_at = now()
     where id = $app and webhook_url is not null returning id
   )`,
  '$rotation',
])

const deactivateApp = changeStatement('network_app_deactivate', {}, [
  'network-app.deactivated',
  `changed_app as (
     update network_apps set deactivated_at = coalesce(deactivated_at, now()),
       updated_at = case when deactivated_at is null then now() else updated_at end
     where id = $app returning id
   )`,
])

const changeParams = (context: idempotent.IdempotentContext, uuid: string) => ({
  ...{ app: uuid, subject: toId('app', uuid) },
  ...idempotent.onceParams(context),
  ...auditorOf(context.actor),
})

/** Returns the UUID of the changed app. Throws NOT_FOUND. Throws VALIDATION_FAILED if the name is already used. */
async function changedBy(rows: Promise<{ id: string }[]>): Promise<string> {
  const [changed] = await rows.catch((error: unknown) => {
    if (violatedConstraint(error) !== 'network_apps_name_key') throw error
    throw validationFailed({ name: ['A network app with this name already exists.'] })
  })
  if (!changed) throw notFound('Network app')
  return changed.id
}

/** Derives a webhook secret. `id` identifies the rotation. The same idempotency key returns the same secret. */
const newWebhookSecret = ({ vault }: Use<'vault'>, id: string, key?: string) =>
  `whsec_${newSecret(vault.derive('webhook-secret'), id, key, SECRET_BYTES).toString('base64')}`

/** Returns the secret that the first request created. Throws IDEMPOTENCY_KEY_REUSED if the secret was replaced. */
async function replaySecret(context: SecretContext, app: string, id: string): Promise<string> {
  const { database, envelopeCipher, idempotency } = context
  const secret = newWebhookSecret(context, id, idempotency.key)
  const [row] = await database.query(findSecrets, { app })
  const stored = [row?.webhook_secret, row?.previous_secret].filter((sealed) => sealed != null)
  const valid = await Promise.all(stored.map((sealed) => envelopeCipher.open(sealed, webhookSecretContext(app))))
  if (!valid.includes(secret)) throw idempotent.resultNoLongerExists('the secret that was created was replaced')
  return secret
}

/** Creates an app of the caller. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, and IDEMPOTENCY_KEY_REUSED. */
export async function createNetworkApp(
  context: SecretContext & Use<'config'>,
  rawInput: z.input<ReturnType<typeof createInput>>,
): Promise<AppWithSecret> {
  const { actor, database, envelopeCipher, idempotency } = context
  assertUserMay(actor, 'store:administer')
  const input = parse(createInput(context), rawInput)
  const { webhookUrl: url = null } = input
  idempotency.isSecret = url !== null
  let secret: string | null = null
  const id = await idempotent.once(context, 'createNetworkApp', input, async () => {
    const uuid = newUuid()
    const created = newWebhookSecret(context, uuid, idempotency.key)
    const sealed = url === null ? null : await envelopeCipher.seal(created, webhookSecretContext(uuid))
    const params = {
      ...changeParams(context, uuid),
      ...{ owner: actor.id, name: input.name, price: input.price, url, secret: sealed },
      policy: input.deliveryFailurePolicy,
    }
    await changedBy(database.query(insertApp, params))
    if (sealed) secret = created
    return uuid
  })
  if (url !== null) secret ??= await replaySecret(context, id, id)
  return { id, webhookSecret: secret }
}

/**
 * Updates the given fields of an app, and returns its UUID. The first URL creates a webhook secret, which is not shown.
 * Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.
 */
export async function updateNetworkApp(
  context: SecretContext & Use<'config'>,
  { id, ...rawInput }: z.input<ReturnType<typeof updateInput>> & { id: string },
): Promise<{ id: string }> {
  const { actor, database, envelopeCipher } = context
  assertMay(actor, 'store:administer')
  const input = parse(updateInput(context), rawInput)
  const uuid = uuidFrom(id, 'app', 'Network app')
  const { name = null, price = null, webhookUrl: url, deliveryFailurePolicy: policy = null } = input
  await idempotent.once(context, 'updateNetworkApp', { ...input, uuid }, async () => {
    if (Object.values(input).every((value) => value === undefined)) {
      await networkAppReader.get(context, id, { select: { id: true } })
      return idempotent.insertIdempotencyKey(context, uuid)
    }
    const secret = url ? await envelopeCipher.seal(newWebhookSecret(context, uuid), webhookSecretContext(uuid)) : null
    const webhook = { hasUrl: url !== undefined, url: url ?? null, secret }
    const params = { ...changeParams(context, uuid), name, price, ...webhook, policy }
    return changedBy(database.query(updateApp, params))
  })
  return { id: uuid }
}

/**
 * Creates a new webhook secret. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED if the app has
 * no webhook, and IDEMPOTENCY_KEY_REUSED.
 */
export async function rotateWebhookSecret(context: SecretContext, { id }: { id: string }): Promise<AppWithSecret> {
  const { actor, database, envelopeCipher, idempotency } = context
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'app', 'Network app')
  let secret: string | undefined
  idempotency.isSecret = true
  const rotation = await idempotent.once(context, 'rotateWebhookSecret', { uuid }, async () => {
    const rotation = `${uuid}:${newUuid()}`
    const created = newWebhookSecret(context, rotation, idempotency.key)
    const app = await networkAppReader.get(context, id, { select: { webhookUrl: true } })
    if (app.webhookUrl === null) throw validationFailed({ webhookUrl: ['This network app has no webhook.'] })
    const sealed = await envelopeCipher.seal(created, webhookSecretContext(uuid))
    await changedBy(database.query(rotateSecret, { ...changeParams(context, uuid), secret: sealed, rotation }))
    secret = created
    return rotation
  })
  return { id: uuid, webhookSecret: secret ?? (await replaySecret(context, uuid, rotation)) }
}

/** Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
export async function deactivateNetworkApp(context: idempotent.IdempotentContext, { id }: { id: string }) {
  assertMay(context.actor, 'store:administer')
  const uuid = uuidFrom(id, 'app', 'Network app')
  await idempotent.once(context, 'deactivateNetworkApp', { uuid }, () =>
    changedBy(context.database.query(deactivateApp, changeParams(context, uuid))),
  )
  return { id: uuid }
}
