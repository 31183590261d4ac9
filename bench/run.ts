/**
 * `npm run bench [-- --ops R1,M1 --rounds 3 …]`: measures Annal beside its peers with the peer benchmark, whose folder is
 * `PEER_BENCH` or `../shared/bench`. The arguments go through; its README explains them and how to read the figures.
 * `npm run bench -- year [days]` is another one: a simulated year (`bench/year.ts`).
 * `npm run bench -- growth …`: measures Annal beside itself, with databases of several sizes (docs/performance.md); `… -- uploads …`: uploads beside a
 * plain server that hashes and writes.
 * `npm run bench -- sign-ins …`: how long others wait while many sign in (`bench/sign-ins.ts`).
 * `npm run bench -- arrival …`: how long commits take to the chain (`bench/arrival.ts`).
 * `npm run bench -- processes`: what a read costs when several processes serve (`bench/processes.ts`).
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const folder = resolve(root, process.env.PEER_BENCH ?? '../shared/bench')
const runner = resolve(folder, 'run')

if (process.argv[2] === 'year') {
  await import('./year.ts')
} else if (process.argv[2] === 'growth') {
  const { measureGrowth } = await import('./growth/growth.ts')
  await measureGrowth(process.argv.slice(3))
} else if (process.argv[2] === 'uploads') {
  const { measureUploads } = await import('./uploads.ts')
  await measureUploads(process.argv.slice(3))
} else if (process.argv[2] === 'sign-ins') {
  const { measureSignIns } = await import('./sign-ins.ts')
  await measureSignIns(process.argv.slice(3))
} else if (process.argv[2] === 'arrival') {
  const { measureArrival } = await import('./arrival.ts')
  await measureArrival(process.argv.slice(3))
} else if (process.argv[2] === 'processes') {
  await import('./processes.ts')
} else if (existsSync(runner)) {
  const child = spawn('bash', [runner, '--ours', resolve(import.meta.dirname, 'ours.json'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  // The runner ends its servers itself; it only has to hear the signal.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  process.stderr.write(
    `The peer benchmark is not in ${folder}. Set PEER_BENCH to its folder, the one with its file "run".\n`,
  )
  process.exitCode = 1
}
