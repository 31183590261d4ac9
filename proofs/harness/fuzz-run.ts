/** Shared code of proofs that send generated requests. */
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

/** Returns the environment of a gateway without rate limits. */
export function fuzzEnv({ env }: Pick<Parts, 'env'>): Record<string, string> {
  const limits = { LIMITS: `${env.LIMITS},upload=100000000,upload-megabytes=100000000` }
  // Disables the withdrawal limits, because passwords change often in this proof.
  const withdrawals = { WITHDRAWAL_COOLING_HOURS: '0', WITHDRAWALS_PER_DAY: '1000000' }
  return { ...env, ...limits, ...withdrawals, ALLOW_INSECURE_WEBHOOKS: 'true' }
}

/** Returns one valid request per root field, field with arguments, route and page. */
export const goodRequests = (): FuzzRequest[] => [
  ...graphqlShapes.map(goodGraphQLRequest),
  ...restShapes.map(goodRestRequest),
  ...adminShapes.map(goodAdminRequest),
]

/** Creates the users of one worker. */
export function openHand(
  { database }: Parts,
  { url }: Gateway,
  watch?: NonNullable<FuzzTools['watch']>,
): Promise<FuzzScene> {
  const sql = <Row>(text: string, values: unknown[]) => runSql<Row>(database, text, values)
  return openFuzzScene({ url, newUser: fuzzPeople({ url, sql }), sql, ...(watch && { watch }) })
}

const isError = (line: string) => /"level":(50|60|"error"|"fatal")/.test(line)
/** Returns true for a line of a stack trace, also in a warning. */
const isStack = (line: string) => /^\s+at |Error: /.test(line)

/** Returns a message if a gateway logged errors. With `warnings`, warnings are allowed. */
export async function loggedErrors(dir: string, name: string, { warnings = false } = {}): Promise<string[]> {
  const lines = (await readFile(join(dir, `${name}.log`), 'utf8')).split('\n')
  const errors = lines.filter((line) => isError(line) || (!warnings && isStack(line)))
  return errors.length ? [`The gateway logged ${errors.length} errors, such as ${errors[0]!.slice(0, 600)}`] : []
}
