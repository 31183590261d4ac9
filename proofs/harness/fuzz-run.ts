/** What proofs that send generated requests have in common. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adminShapes, goodAdminRequest } from './fuzz-admin.ts'
import { goodGraphQLRequest, graphqlShapes } from './fuzz-graphql.ts'
import { fuzzPeople } from './fuzz-people.ts'
import type { FuzzRequest } from './fuzz-requests.ts'
import { goodRestRequest, restShapes } from './fuzz-rest.ts'
import { type FuzzScene, type FuzzTools, openFuzzScene } from './fuzz-scene.ts'
import type { Gateway } from './gateway.ts'
import type { Parts } from './parts.ts'
import { runSql } from './run-sql.ts'

/** The environment of a gateway that a few callers may ask as much as they like. */
export function fuzzEnv({ env }: Pick<Parts, 'env'>): Record<string, string> {
  const limits = { LIMITS: `${env.LIMITS},upload=100000000,upload-megabytes=100000000` }
  // Passwords change all the time here.
  const withdrawals = { WITHDRAWAL_COOLING_HOURS: '0', WITHDRAWALS_PER_DAY: '1000000' }
  return { ...env, ...limits, ...withdrawals, ALLOW_INSECURE_WEBHOOKS: 'true' }
}

/** One request to each field at the root, each field with arguments, each route and each page, as it should be. */
export const goodRequests = (): FuzzRequest[] => [
  ...graphqlShapes.map(goodGraphQLRequest),
  ...restShapes.map(goodRestRequest),
  ...adminShapes.map(goodAdminRequest),
]

/** People of one hand. */
export function openHand(
  { database }: Parts,
  { url }: Gateway,
  watch?: NonNullable<FuzzTools['watch']>,
): Promise<FuzzScene> {
  const sql = <Row>(text: string, values: unknown[]) => runSql<Row>(database, text, values)
  return openFuzzScene({ url, newUser: fuzzPeople({ url, sql }), sql, ...(watch && { watch }) })
}

const isError = (line: string) => /"level":(50|60|"error"|"fatal")/.test(line)
/** Also of a warning. */
const isStack = (line: string) => /^\s+at |Error: /.test(line)

/** A sentence when a gateway of this name logged errors; with `warnings` they may have been of somebody else's making. */
export async function loggedErrors(dir: string, name: string, { warnings = false } = {}): Promise<string[]> {
  const lines = (await readFile(join(dir, `${name}.log`), 'utf8')).split('\n')
  const errors = lines.filter((line) => isError(line) || (!warnings && isStack(line)))
  return errors.length ? [`The gateway logged ${errors.length} errors, such as ${errors[0]!.slice(0, 600)}`] : []
}
