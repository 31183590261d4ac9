/** What a supervisor forks: a process whose name, roles and moment to listen stand on its command line. */
import { readConfig } from './config.ts'
import { explainError } from './domain/explain-error.ts'
import { exitCodeOf } from './platform/exit-code.ts'
import { LISTENS_FIRST } from './platform/workers/messages.ts'
import { createSupervisorLink } from './platform/workers/supervisor-link.ts'
import { runProcess } from './run-process.ts'

const [name = '', ROLES, when] = process.argv.slice(2)

try {
  await runProcess(
    readConfig(undefined, { ROLES }),
    createSupervisorLink({ name, listensFirst: when === LISTENS_FIRST }),
  )
} catch (error) {
  process.stderr.write(`${explainError(error)}\n`)
  process.exit(exitCodeOf(error))
}
