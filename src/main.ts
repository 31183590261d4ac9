/** The service: one process with its roles, or a supervisor with several below it. */
import { findUnread, readConfig } from './config.ts'
import { explainError } from './domain/explain-error.ts'
import { exitCodeOf } from './platform/exit-code.ts'
import { createLog } from './platform/log.ts'

/**
 * Serves until a signal stops it, and then ends the process. `overrides`: variables as the command line gives them. Raises
 * ConfigError, and what keeps the service from starting.
 */
export async function serve(overrides: Parameters<typeof readConfig>[1] = {}): Promise<never> {
  const config = readConfig(undefined, overrides)
  const log = createLog(config.logLevel)
  for (const sentence of findUnread()) log.warn({ problem: sentence }, 'Environment variable ignored')
  // Told before anything is opened.
  const { trustedDocuments, introspection } = config.graphql
  if (trustedDocuments && config.roles.has('http')) {
    const { readTrustedDocuments } = await import('./graphql/trusted-documents.ts')
    const { schema } = await import('./graphql/schema.ts')
    readTrustedDocuments(trustedDocuments, schema, introspection)
  }
  if (config.workers > 1 && config.roles.has('http')) return (await import('./supervisor.ts')).supervise(config)
  return (await import('./run-process.ts')).runProcess(config)
}

if (import.meta.main) {
  serve().catch((error: unknown) => {
    process.stderr.write(`${explainError(error)}\n`)
    process.exit(exitCodeOf(error))
  })
}
