/** A worker that serves when it is told to open; `late <file>`: once there is such a file; `brief`: and ends at once; `once <file>`: the same where there is no such file yet. */
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const [mode, file = ''] = process.argv.slice(2)

process.on('message', async ({ kind }: { kind: string }) => {
  if (kind !== 'open') return
  while (mode === 'late' && !existsSync(file)) await delay(20)
  process.send!({ kind: 'ready' })
  if (mode === 'once' && !existsSync(file)) writeFileSync(file, '')
  else if (mode !== 'brief') return
  process.disconnect()
})
