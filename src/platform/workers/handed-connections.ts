/**
 * A connection that Node's cluster has handed to a worker which dies before it takes it: Node forgets it, so that nobody answers it and nobody
 * closes it (nodejs/node-v0.x-archive#7006, and so in Node 24). Each death would leave one caller waiting.
 */
import type { Worker } from 'node:cluster'

/** What the cluster of Node says to a worker, `act`, and hears of it by the same number, `ack`. */
interface ClusterMessage {
  act?: string
  seq?: number
  ack?: number
}

/**
 * Has another worker get what this one was handed and did not take: its cluster is told that the worker refused, as one does that is stopping.
 * A worker says that it takes a connection before it reads from it, so nothing is carried out twice.
 */
export function giveBackConnections({ process }: Pick<Worker, 'process'>): void {
  let handed: number | undefined
  let isDisconnected = false
  const send = process.send.bind(process) as (...args: unknown[]) => boolean
  process.send = (message: ClusterMessage, ...more: unknown[]) => {
    if (message.act === 'newconn') handed = message.seq
    return send(message, ...more)
  }
  process.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack === handed) handed = undefined
  })
  process.once('disconnect', () => {
    isDisconnected = true
  })
  // By then all is heard that it has said.
  process.once('close', () => {
    if (handed === undefined) return
    // Node does not say so while a connection is on its way, and would hand it to the same worker again.
    if (!isDisconnected) process.emit('disconnect')
    process.emit('internalMessage' as 'message', { cmd: 'NODE_CLUSTER', ack: handed, accepted: false }, undefined)
  })
}
