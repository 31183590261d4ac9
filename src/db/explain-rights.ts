import { FixableError } from '../shared/operator-errors.ts'

/** PostgreSQL's code for what a role may not do. */
const INSUFFICIENT_PRIVILEGE = '42501'

const codeOf = (error: unknown) => (error as { code?: string } | undefined)?.code

/** An error as it is told to an operator: where the database's role lacks a right, with what to do about it; else as it is. */
export function explainRights(error: unknown): unknown {
  if (!(error instanceof Error) || ![error, error.cause].some((each) => codeOf(each) === INSUFFICIENT_PRIVILEGE))
    return error
  return new FixableError(
    `The role that Annal has at the database may not do what is needed: ${error.message}.`,
    'Make it the owner of the database and of what is in it (ALTER DATABASE … OWNER TO …), or have the owner carry out `annal migrate` first.',
    { cause: error },
  )
}
