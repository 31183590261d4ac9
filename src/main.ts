import { findUnread, readConfig } from './config.ts'
import { explainError } from './shared/operator-errors.ts'
import { exitCodeOf } from './shared/process.ts'
import { createLog } from './telemetry/log.ts'

/** `overrides`: variables from the command line. Throws ConfigError, and errors of the start. */
export async function serve(overrides: Parameters<typeof readConfig>[1] = {}): Promise<never> {
  const config = readConfig(undefined, overrides)
  const log = createLog(config.logLevel)
  for (const sentence of findUnread()) log.warn({ problem: sentence }, 'Environment variable ignored')
  // Errors in trusted documents are reported before any connection is opened.
  const { trustedDocuments, introspection } = config.graphql
  if (trustedDocuments && config.roles.has('http')) {
    const { readTrustedDocuments } = await import('./graphql/persisted-documents.ts')
    const { loadModules } = await import('./app.ts')
    const { loadApi } = await import('./http/create-routes.ts')
    const { schema } = await loadApi(await loadModules())
    readTrustedDocuments(trustedDocuments, schema, introspection)
  }
  return (await import('./run-process.ts')).runProcess(config)
}

if (import.meta.main) {
  serve().catch((error: unknown) => {
    process.stderr.write(`${explainError(error)}\n`)
    process.exit(exitCodeOf(error))
  })
}
