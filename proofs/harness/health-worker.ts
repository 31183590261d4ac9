/** A thread that asks a gateway how it is, 20 times a second, each time on a connection of its own, until it is told to stop. */
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { trySend } from '../../test/support/http-client.ts'

let isOver = false
parentPort!.once('message', () => {
  isOver = true
})

const looks: Promise<{ milliseconds: number; status: number }>[] = []
while (!isOver) {
  looks.push(
    trySend(`${workerData}/healthz`).then(({ milliseconds, status }) => ({
      milliseconds,
      status,
    })),
  )
  await delay(50)
}
parentPort!.postMessage(await Promise.all(looks))
parentPort!.close()
