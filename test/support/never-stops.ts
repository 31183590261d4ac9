/** Stands for a service that cannot finish what it has begun. */
import { stopSignal } from '../../src/shared/process.ts'

const stopped = stopSignal(Number(process.argv[2]), async () => undefined)
setInterval(() => undefined, 1_000)
process.stdout.write('ready\n')
await stopped
