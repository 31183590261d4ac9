/** `annal api-key`. */
import type { Command } from 'commander'
import { command } from './command.ts'
import { ifUnread, print, printJson, say, table } from './output.ts'
import { withServices } from './with-installation.ts'

const toKeyId = async () => {
  const { toId } = await import('../shared/ids.ts')
  return (uuid: string) => toId('key', uuid)
}

/** Adds `annal api-key …`. */
export function addApiKeyCommands(program: Command): void {
  const apiKey = command(program, 'api-key', 'API keys of trusted services.')

  command(apiKey, 'issue', 'Makes an API key and prints it, this once.', ['annal api-key issue --name shop --json'])
    .requiredOption('--name <name>', 'which service it is for')
    .option('--json', 'prints {"id", "key"}')
    .action(async ({ name, json }) => {
      const context = { key: undefined, replayed: false }
      const issued = await withServices(({ services: { apiKeys } }) =>
        apiKeys.issue({ kind: 'system' }, { name }, context),
      )
      const made = { id: (await toKeyId())(issued.id), key: issued.key }
      ifUnread(`The key ${made.id} was made, and nobody has seen it. Revoke it: annal api-key revoke ${made.id}`)
      if (json) return printJson(made)
      print(
        table([
          ['id', made.id],
          ['key', made.key],
        ]),
      )
      say('Keep the key: it is not shown again. Services send it as "x-api-key: <key>".')
    })

  command(apiKey, 'list', 'Lists all API keys, also revoked ones, newest first.', ['annal api-key list'])
    .option('--json', 'prints a list of {"id", "name", "prefix", "createdAt", "revokedAt"}')
    .action(async ({ json }) => {
      const idOf = await toKeyId()
      const keys = (await withServices(({ services: { apiKeys } }) => apiKeys.list({ kind: 'system' }))).map(
        ({ id, name, prefix, createdAt, revokedAt }) => ({ id: idOf(id), name, prefix, createdAt, revokedAt }),
      )
      if (json) return printJson(keys)
      const rows = keys.map(({ id, name, prefix, createdAt, revokedAt }) => [
        ...[id, prefix, createdAt.toISOString(), revokedAt?.toISOString() ?? '-', name],
      ])
      print(table([['id', 'prefix', 'issued', 'revoked', 'name'], ...rows]))
    })

  command(apiKey, 'revoke', 'Ends an API key: the next request that carries it is not trusted.', [
    'annal api-key revoke key_01h455vb4pex5vsknk084sn02q',
  ])
    .argument('<id>', 'identifier of the key, as `annal api-key list` shows it')
    .option('--json', 'prints {"id"}')
    .action(async (id: string, { json }) => {
      const context = { key: undefined, replayed: false }
      await withServices(({ services: { apiKeys } }) => apiKeys.revoke({ kind: 'system' }, id, context))
      if (json) return printJson({ id })
      say('Revoked.')
    })
}
