/** Command `keys`. */
import type { Command } from 'commander'
import type { KeyRotation } from '../keys/key-rotation.ts'
import { command } from './command.ts'
import * as out from './terminal.ts'
import { withInfrastructure } from './with-infrastructure.ts'

const withRotation = <T>(work: (rotation: KeyRotation) => Promise<T>): Promise<T> =>
  withInfrastructure(async (infrastructure) => {
    const { createKeyRotation } = await import('../keys/key-rotation.ts')
    return work(createKeyRotation(infrastructure))
  })

async function rotate({ json }: { json?: true }) {
  const { rotation, status } = await withRotation(async ({ rotate, status }) => ({
    rotation: await rotate(out.createProgress('rewrapped')),
    status: await status(),
  }))
  const { current, isNew, rewrapped, unreadable } = rotation
  if (unreadable.length) out.fail()
  if (json) return out.printJson(rotation)
  out.printRows(Object.entries({ key: `${current}${isNew ? ' (new)' : ''}`, rewrapped }))
  for (const { id, reason } of unreadable) out.report(out.red(`Cannot decrypt ${id}: ${reason}`))
  const previous = status.keys.filter(({ isCurrent }) => !isCurrent)
  const left = previous.reduce((sum, { total }) => sum + total, 0)
  if (left)
    out.report(`${out.counted(left, 'row still uses', 'rows still use')} a previous key. Run the command again.`)
  else if (previous.length)
    out.report(out.green('No row uses a previous key. Destroy them: annal keys destroy-previous'))
  else if (!isNew && !rewrapped)
    out.report('Set a new KEY_ENCRYPTION_KEY, and the previous one as KEY_ENCRYPTION_KEY_PREVIOUS.')
}

export function addKeysCommands(program: Command): void {
  const keys = command(program, 'keys', {
    description: 'Manages key-encryption keys, which wrap users’ private keys and other secrets.',
  })

  command(keys, 'status', {
    description: 'Shows how many secrets each key wraps.',
    examples: ['annal keys status'],
    json: '{"keys", "lost"}',
  }).action(async ({ json }) => {
    const status = await withRotation((rotation) => rotation.status())
    if (status.lost) out.fail()
    if (json) return out.printJson(status)
    const rows = status.keys.map(({ id, isCurrent, wraps: { user_keys: privateKeys }, total }) => ({
      ...{ key: id, isCurrent, privateKeys, otherSecrets: total - privateKeys },
    }))
    out.printTable(rows, 'key', 'isCurrent', 'privateKeys', 'otherSecrets')
    if (status.lost)
      out.report(out.red(`${out.counted(status.lost, 'row uses', 'rows use')} a key that the vault does not have.`))
  })

  command(keys, 'rotate', {
    description: 'Creates a new key and rewraps all secrets with it, while servers run.',
    examples: ['annal keys rotate'],
    notes: `After an interruption, run the command again: it continues. With keys in environment variables:
  1. Set KEY_ENCRYPTION_KEY_PREVIOUS to the new key on every server and restart it, so that all servers can read it.
  2. Swap the two keys: KEY_ENCRYPTION_KEY is the new key, KEY_ENCRYPTION_KEY_PREVIOUS the old one. Restart every server.
  3. Run this command.
  4. Remove the old key and restart every server.`,
    json: '{"current", "isNew", "rewrapped", "unreadable"}',
  }).action(rotate)

  command(keys, 'abandon', {
    description: 'Records that a key is lost, so that servers start without it.',
    examples: ['annal keys abandon local:0123456789abcdef'],
    notes: `Secrets that the key wrapped stay unreadable. Commits of those accounts wait for three days and are then refunded.
If you find the key again, everything it wrapped is readable again.`,
    json: '{"abandoned"}',
  })
    .argument('<key>', 'ID of the key, or key-shares, as the failed start reports it')
    .action(async (key: string, { json }) => {
      const { abandonKey } = await import('../keys/vault-identity.ts')
      await withInfrastructure(({ database, keyRing, config }) => abandonKey(database, keyRing, key, config.dir))
      if (json) return out.printJson({ abandoned: key })
      out.report(`Servers now start without ${key}.`)
    })

  command(keys, 'destroy-previous', {
    description: 'Destroys previous keys that wrap nothing.',
    examples: ['annal keys destroy-previous'],
    notes: `Fails while a previous key wraps something, and for 15 minutes after a rotation.
Remove keys in environment variables yourself.`,
    json: '{"destroyed"}',
  }).action(async ({ json }) => {
    const destroyed = await withRotation((rotation) => rotation.destroyEarlier())
    if (json) return out.printJson({ destroyed })
    for (const id of destroyed) out.print(id)
    out.report(destroyed.length ? `Destroyed ${out.counted(destroyed.length, 'key')}.` : 'There is no key to destroy.')
  })
}
