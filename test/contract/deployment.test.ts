/** The files in deploy/ set only variables that the service reads. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeConfig } from '../../src/config.ts'

const deploy = new URL('../../deploy/', import.meta.url)
const places: [pattern: string, setting: RegExp][] = [
  ['docker/Dockerfile', /^ENV ([A-Z_]+)=/gm],
  ['kubernetes/configuration.yaml', /^ {2}([A-Z_]+):/gm],
  ['systemd/*.service', /(?:^Environment=| )([A-Z_]+)=/gm],
  ['systemd/annal', /(?:^export | )([A-Z_]+)=/gm],
  // Variables of other services begin with the name of the service.
  ['compose/compose.yaml', /^ {6}((?!POSTGRES_|GF_|IPFS_PROFILE)[A-Z_]+):/gm],
]

const read = (file: string) => readFileSync(new URL(file, deploy), 'utf8')

it('the systemd unit passes each secret as a credential, and does not restart after exit status 2', () => {
  const unit = read('systemd/annal.service')
  expect(unit).toMatch(/^RestartPreventExitStatus=2$/m)
  const credentials = new Map(
    [...unit.matchAll(/^#?LoadCredential=([a-z0-9-]+):\/etc\/annal\/\1\n#?Environment=([A-Z0-9_]+)=%d\/\1$/gm)].map(
      ([, file, name]) => [name!, file!],
    ),
  )
  const secrets = describeConfig().flatMap(({ name, isSecret }) => (isSecret ? [`${name}_FILE`] : []))
  expect([...credentials.keys()].sort()).toEqual([...secrets, 'AWS_SHARED_CREDENTIALS_FILE'].sort())
  const commands = read('systemd/annal')
  for (const [name, file] of credentials) expect(commands).toContain(`${name}=/etc/annal/${file}`)
})

it('deployments set only variables that the service reads', () => {
  const known = new Set(['PATH', 'NODE_COMPILE_CACHE'])
  for (const { name, isSecret } of describeConfig())
    for (const each of isSecret ? [name, `${name}_FILE`] : [name]) known.add(each)
  for (const [pattern, setting] of places) {
    for (const file of globSync(pattern, { cwd: deploy })) {
      const set = [...readFileSync(new URL(file, deploy), 'utf8').matchAll(setting)].map(([, name]) => name!)
      expect(set.length, file).toBeGreaterThan(3)
      expect(
        set.filter((name) => !known.has(name)),
        file,
      ).toEqual([])
    }
  }
})
