import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Asset, Prisma } from '../../db/prisma/client.ts'
import { boolean, orNull, statement, text, uuid } from '../../db/sql.ts'
import { notFound } from '../../shared/errors.ts'
import { resultNoLongerExists } from '../../shared/idempotency.ts'
import { canonicalNid } from '../../shared/ids.ts'
import { cidInput, parse, text as textInput, trimmedText } from '../../shared/input.ts'
import * as lists from '../../shared/lists.ts'
import { type Actor, visibleAssets } from '../../shared/policy.ts'
import { isEmailUsableSql, normalizeEmail } from '../accounts/account-input.ts'

const { assertOffset, countLimit, readClientOf, searched } = lists

type Reader = Use<'actor' | 'database'>

export type AssetQuery = Omit<Prisma.AssetFindManyArgs, 'where'>

/** Returns null if the asset does not exist or the caller may not see it. */
export async function findAsset({ actor, database }: Reader, id: string, query: AssetQuery = {}) {
  const nid = canonicalNid(id)
  if (nid === undefined) return null
  return database.read.asset.findFirst({ ...query, where: { nid, ...visibleAssets(actor) } })
}

/** Throws NOT_FOUND if the asset does not exist or the caller may not see it. */
export async function getAsset(context: Reader, id: string, query?: AssetQuery): Promise<Asset> {
  const asset = await findAsset(context, id, query)
  if (!asset) throw notFound('Asset')
  return asset
}

/**
 * Returns the caller's own asset after a write. Throws NOT_FOUND, and IDEMPOTENCY_KEY_REUSED for a retry after the asset
 * was deleted, because another user may have registered the same file since.
 */
export async function getOwnAsset(
  { actor, database, idempotency }: Reader & Use<'idempotency'>,
  nid: string,
  query?: AssetQuery,
): Promise<Asset> {
  const ownerId = actor.kind === 'user' ? actor.id : { in: [] }
  const asset = await database.read.asset.findFirst({ ...query, where: { nid, ownerId, deletedAt: null } })
  if (!asset) throw idempotency.replayed ? resultNoLongerExists('the asset was deleted') : notFound('Asset')
  return asset
}

/** A SHA-256 in hexadecimal, in upper or lower case, with or without `0x`. */
const sha256 = textInput(66).transform((hash) => hash.toLowerCase().replace(/^0x/, ''))

const filterInput = z
  .strictObject({
    ...{ owner: trimmedText(254).transform(normalizeEmail), proofHash: sha256, tag: trimmedText(255) },
    ...{ isOriginalOwner: z.boolean(), search: z.string() },
  })
  .partial()

const fileInput = z
  .strictObject({
    sha256: sha256.refine((hash) => /^[0-9a-f]{64}$/.test(hash), 'Expected a SHA-256: 64 hexadecimal digits.'),
    cid: cidInput('Expected the CID of a file, such as bafkrei… or ipfs://bafybei….'),
  })
  .partial()
  .refine(({ sha256, cid }) => (sha256 === undefined) !== (cid === undefined), {
    message: 'Give either the SHA-256 of the file or its CID.',
    path: ['sha256'],
  })

type Order = { orderBy?: lists.ListOrder }
type AssetFilter = z.input<typeof filterInput> & Order
type Lookup = z.input<typeof fileInput> & Order & { search?: string }

type Needs = Use<'actor' | 'config' | 'database' | 'cutsPages'>

const orderOf = ({ orderBy }: Order, order: Prisma.SortOrder): Prisma.AssetOrderByWithRelationInput[] =>
  orderBy === 'UPDATED_AT' ? [{ updatedAt: order }, { id: order }] : [{ id: order }]

const searchedFields = ['headline', 'caption', 'fileName', 'tag'] as const
const matching = (search: lists.Search) =>
  searched<Prisma.AssetWhereInput>(search, (word) => searchedFields.map((field) => ({ [field]: word })))

/**
 * Lists the caller's own assets, or public assets for an anonymous caller. With an owner in the filter, lists the assets
 * of that user that the caller may see. Newest first. Throws VALIDATION_FAILED.
 */
export async function listAssets(context: Needs, filter: AssetFilter, query: AssetQuery): Promise<Asset[]> {
  const { actor, database, cutsPages } = context
  const where = await listCondition(context, filter)
  if (!isOwnList(actor, where.ownerId)) assertOffset(query.skip ?? 0)
  return readClientOf(database, cutsPages).asset.findMany({ ...query, orderBy: orderOf(filter, 'desc'), where })
}

/** For anonymous callers, the count stops shortly after the page at `offset`. */
export async function countAssets(context: Needs, filter: AssetFilter, offset?: number | null) {
  const where = await listCondition(context, filter)
  const limit = context.actor.kind === 'anonymous' && { take: countLimit(offset) }
  return context.database.read.asset.count({ where, ...limit })
}

/** Lists the registrations of a file that the caller may see, oldest first. Throws VALIDATION_FAILED. */
export async function lookUpFile({ actor, database, cutsPages }: Needs, lookup: Lookup, query: AssetQuery) {
  const where = registrationsOf(actor, lookup)
  assertOffset(query.skip ?? 0)
  return readClientOf(database, cutsPages).asset.findMany({ ...query, orderBy: orderOf(lookup, 'asc'), where })
}

export const countRegistrations = async ({ actor, database }: Needs, lookup: Lookup, offset?: number | null) =>
  database.read.asset.count({ where: registrationsOf(actor, lookup), take: countLimit(offset) })

function registrationsOf(actor: Actor, { search, orderBy: _, ...file }: Lookup): Prisma.AssetWhereInput {
  const { sha256, cid } = parse(fileInput, file)
  return { ...visibleAssets(actor), ...(sha256 === undefined ? { nid: cid! } : { sha256 }), ...matching(search) }
}

const callerId = (actor: Actor) => (actor.kind === 'user' ? actor.id : undefined)

const isOwnList = (actor: Actor, ownerId: Prisma.AssetWhereInput['ownerId']) =>
  actor.kind === 'system' || (ownerId !== undefined && ownerId === callerId(actor))

async function listCondition(context: Needs, { orderBy, ...filter }: AssetFilter) {
  const { actor } = context
  const { owner, proofHash, tag, isOriginalOwner, search } = parse(filterInput, filter)
  const ownerId = owner === undefined ? callerId(actor) : await findOwnerId(context, owner)
  const where: Prisma.AssetWhereInput = {
    // The index on owners supports this condition.
    ...(isOwnList(actor, ownerId) ? { deletedAt: null } : visibleAssets(actor)),
    ...(ownerId !== undefined && { ownerId }),
    ...(proofHash !== undefined && { sha256: proofHash }),
    ...(tag !== undefined && { tag }),
    // Assets cannot be transferred, so the current owner is always the original owner.
    ...(isOriginalOwner === false && { id: { in: [] } }),
  }
  const found = matching(search)
  if (isOwnList(actor, ownerId) || !(found.AND || orderBy === 'UPDATED_AT')) return { ...where, ...found }
  // No index supports searches and the order by update time, so other users' lists contain only the newest assets.
  const last = { select: { id: true }, orderBy: { id: 'desc' }, skip: lists.MAX_FOREIGN_OFFSET } as const
  const oldest = await context.database.read.asset.findFirst({ ...last, where })
  return { ...where, ...(oldest && { id: { gt: oldest.id } }), ...found }
}

const findOwner = statement(
  'asset_owner',
  { parameters: { email: text, mustBeVerified: boolean, caller: orNull(uuid) }, columns: { id: uuid } },
  `select id from users
   where lower(email) = lower($email) and deleted_at is null and (id = $caller or ${isEmailUsableSql('$mustBeVerified')})
   order by email_held desc limit 1`,
)

/** An unverified address only finds the caller's own account. */
async function findOwnerId({ actor, config, database }: Needs, email: string): Promise<string | { in: string[] }> {
  const mustBeVerified = config.emailVerification !== 'off'
  const [owner] = await database.query(findOwner, { email, mustBeVerified, caller: callerId(actor) ?? null })
  return owner ? owner.id : { in: [] }
}
