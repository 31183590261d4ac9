/** The files in deploy/ configure the service by variables that there are. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeConfig } from '../../src/config.ts'

const deploy = new URL('../../deploy/', import.meta.url)
/** Each with how it sets variables of ours. */
const places: [pattern: string, setting: RegExp][] = [
  ['docker/Dockerfile', /^ENV ([A-Z_]+)=/gm],
  ['kubernetes/configuration.yaml', /^ {2}([A-Z_]+):/gm],
  ['systemd/*.service', /(?:^Environment=| )([A-Z_]+)=/gm],
  ['systemd/annal', /(?:^export | )([A-Z_]+)=/gm],
  // Other services have variables there, too, which begin with their names.
  ['compose/compose.yaml', /^ {6}((?!POSTGRES_|GF_|IPFS_PROFILE)[A-Z_]+):/gm],
]

it('each variable that a deployment sets is one that the service reads', () => {
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
