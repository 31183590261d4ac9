/** `annal keys`. */
import type { Command } from 'commander'
import type { KeyRotation } from '../keys/key-rotation.ts'
import { command } from './command.ts'
import { fail, green, print, printJson, red, say, table } from './output.ts'
import { createProgress } from './progress.ts'
import { withInstallation } from './with-installation.ts'

const withKeys = <T>(work: (rotation: KeyRotation) => Promise<T>): Promise<T> =>
  withInstallation(async (installation) => {
    const { createKeyRotation } = await import('../keys/key-rotation.ts')
    return work(createKeyRotation(installation))
  })

/** Adds `annal keys …`. */
export function addKeysCommands(program: Command): void {
  const keys = command(program, 'keys', 'Key-encryption keys, which wrap the custodial keys and every sealed text.')

  command(keys, 'status', 'Shows which key wraps how much.', ['annal keys status'])
    .option('--json', 'prints {"keys", "oldVersions", "lost"}')
    .action(async ({ json }) => {
      const status = await withKeys((rotation) => rotation.status())
      if (status.lost) fail()
      if (json) return printJson(status)
      const rows = status.keys.map(({ id, isCurrent, wraps, total }) => [
        ...[id, isCurrent ? 'current' : 'earlier', String(wraps.user_keys), String(total - wraps.user_keys)],
      ])
      print(table([['key', 'state', 'custodial keys', 'sealed texts'], ...rows]))
      if (status.lost) say(red(`${status.lost} rows are wrapped by a key that the vault does not hold.`))
      if (status.oldVersions)
        say(`${status.oldVersions} custodial keys have no key share yet. Rotate to give them one.`)
    })

  command(
    keys,
    'rotate',
    'Makes a new key and moves everything under it, beside a running server.',
    ['annal keys rotate'],
    `Can be interrupted: the next run goes on with what is left. With keys as variables:
  1. Name the new key in KEY_ENCRYPTION_KEY_PREVIOUS of every server and restart it, so that all can read it.
  2. Exchange the two: the new key in KEY_ENCRYPTION_KEY, the earlier one in KEY_ENCRYPTION_KEY_PREVIOUS; restart every server.
  3. Rotate.
  4. Take the earlier key away and restart every server.`,
  )
    .option('--json', 'prints {"current", "isNew", "rewrapped", "unreadable"}')
    .action(async ({ json }) => {
      const progress = createProgress('wrapped anew')
      const { rotation, status } = await withKeys(async ({ rotate, status }) => ({
        rotation: await rotate(progress.tell),
        status: await status(),
      })).finally(progress.end)
      if (rotation.unreadable.length) fail()
      if (json) return printJson(rotation)
      const { current, isNew, rewrapped, unreadable } = rotation
      print(
        table([
          ['key', `${current}${isNew ? ' (new)' : ''}`],
          ['wrapped anew', String(rewrapped)],
        ]),
      )
      for (const { id, reason } of unreadable) say(red(`${id} does not open: ${reason}`))
      const earlier = status.keys.filter(({ isCurrent }) => !isCurrent)
      const left = earlier.reduce((sum, { total }) => sum + total, 0)
      if (left) return say(`${left} rows are still under an earlier key. Rotate again to go on.`)
      if (earlier.length)
        say(green('Nothing is left under an earlier key. It may be destroyed: annal keys destroy-earlier'))
      else if (!isNew && !rewrapped)
        say('Set a new KEY_ENCRYPTION_KEY, and the earlier one as KEY_ENCRYPTION_KEY_PREVIOUS.')
    })

  command(
    keys,
    'give-up',
    'Says that a key is lost for good, so that servers start without it.',
    ['annal keys give-up local:0123456789abcdef'],
    `What it wrapped stays shut: commits of those accounts wait for three days and are refunded, and nothing is signed for them.
Should the key be found again, it opens everything as before.`,
  )
    .argument('<key>', 'as the refused start names it: a key, or key-shares')
    .option('--json', 'prints {"givenUp"}')
    .action(async (key: string, { json }) => {
      const { giveKeyUp } = await import('../keys/vault-identity.ts')
      await withInstallation(({ database, keyRing, config }) => giveKeyUp(database, keyRing, key, config.dir))
      if (json) return printJson({ givenUp: key })
      say(`Servers start without ${key}.`)
    })

  command(
    keys,
    'destroy-earlier',
    'Destroys earlier keys, once nothing is left under them.',
    ['annal keys destroy-earlier'],
    `Refuses while something is left under one, and for 15 minutes after a rotation.
Keys that are given as variables are the operator's to remove.`,
  )
    .option('--json', 'prints {"destroyed"}')
    .action(async ({ json }) => {
      const destroyed = await withKeys((rotation) => rotation.destroyEarlier())
      if (json) return printJson({ destroyed })
      for (const id of destroyed) print(id)
      say(destroyed.length ? `${destroyed.length} destroyed.` : 'There was none to destroy.')
    })
}
