/** Simulates a service that never finishes its work at shutdown. */
import { stopSignal } from '../../src/shared/process.ts'

const stopped = stopSignal(Number(process.argv[2]), async () => undefined)
setInterval(() => undefined, 1_000)
process.stdout.write('ready\n')
await stopped
