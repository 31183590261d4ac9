/** Exit code of a service or command that failed. */
const FAILURE = 1
/** Exit code for a wrong configuration, which no restart fixes. */
const WRONG_CONFIGURATION = 2

/** Names of the errors that a wrong configuration raises. Commands check the name so that they need not load the configuration. */
const CONFIGURATION_ERRORS = new Set(['ConfigError', 'TrustedDocumentsError'])

/** Returns the exit code of a process that an error ends. */
export const exitCodeOf = (error: unknown): number =>
  error instanceof Error && CONFIGURATION_ERRORS.has(error.name) ? WRONG_CONFIGURATION : FAILURE
