/** What commands work on: the installation's parts, beside a running server or alone. */
import { readConfig } from '../config.ts'
import type { Installation } from '../installation.ts'
import type { ServiceLayer } from '../services.ts'

/**
 * Carries out `work` on this installation's parts: those of a running server, or our own for as long as it takes. The database is not
 * migrated: that is the server's, which may be of another version. Raises when it does not fit this one.
 */
export async function withInstallation<T>(work: (installation: Installation) => Promise<T>): Promise<T> {
  const config = readConfig()
  // Loaded when they are needed: help and a refusal must not wait for the whole service.
  const { openInstallation } = await import('../installation.ts')
  const { createLog } = await import('../platform/log.ts')
  // An operator at a terminal reads sentences; the service's own diary is left out unless it is asked for.
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel)
  const installation = await openInstallation(config, log, { mayMigrate: false })
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}

/** Where callers reach the service, as a command knows it: its port may be another one. */
export const publicUrlOf = ({ config }: Installation) => config.publicUrl ?? `http://localhost:${config.port}`

/**
 * Carries out `work` on the services of this installation; what serves requests is not even loaded. Raises what
 * `withInstallation` raises.
 */
export const withServices = <T>(work: (layer: ServiceLayer) => Promise<T>): Promise<T> =>
  withInstallation(async (installation) => {
    const { createServices } = await import('../services.ts')
    // A commit made here is found by the server's relay on its next look.
    const relay = { wake() {} }
    return work(createServices({ ...installation, relay, publicUrl: publicUrlOf(installation) }))
  })
