/** Carries out a Dockerfile without a container engine: each stage is a folder, and a command runs in it by chroot. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bash, root } from './shell.ts'

interface Instruction {
  name: string
  text: string
}

export interface Image {
  folder: string
  env: Record<string, string>
  workdir: string
  user: string
  volumes: string[]
  entrypoint: string[]
  command: string[]
  health: string[]
}

const quote = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`

export function parseDockerfile(file: string): Instruction[] {
  const lines = readFileSync(file, 'utf8').replaceAll(/\\\n/g, ' ').split('\n')
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ name: line.split(/\s+/, 1)[0]!, text: line.replace(/^\S+\s+/, '') }))
}

const enter = (folder: string) =>
  `mount -t proc proc ${folder}/proc && mount --rbind /dev ${folder}/dev && mount -t tmpfs tmpfs ${folder}/run`

function runLine({ folder, env, workdir }: Image, words: string, more: Record<string, string>): string {
  const settings = Object.entries({ ...env, ...more }).map(([name, value]) => `${name}=${quote(value)}`)
  const inside = `env -i ${settings.join(' ')} chroot ${folder} /bin/sh -c ${quote(`cd ${workdir} && ${words}`)}`
  return `unshare --mount bash --norc -c ${quote(`${enter(folder)} && ${inside}`)}`
}

export function containerLine(image: Image, words: readonly string[], data: string, more: Record<string, string> = {}) {
  const { folder, env, workdir, user, volumes } = image
  const settings = Object.entries({ ...env, ...more }).map(([name, value]) => `${name}=${quote(value)}`)
  const mounts = [
    `mount --bind ${folder} ${folder}`,
    `cd ${folder}`,
    enter(folder),
    `mount -t tmpfs -o mode=1777 tmpfs ${folder}/tmp`,
    ...volumes.map((volume) => `mount --bind ${data} ${folder}${volume}`),
    `mount -o remount,bind,ro ${folder}`,
  ]
  const inside = ['sh', '-c', 'cd "$0" && exec "$@"', workdir, ...words].map(quote).join(' ')
  return `unshare --mount bash --norc -c ${quote(
    `${mounts.join(' && ')} && exec env -i ${settings.join(' ')} chroot --userspec=${user} ${folder} ${inside}`,
  )}`
}

export interface BuildOptions {
  file: string
  dir: string
  base: string
  env: Record<string, string>
}

export async function buildImage({ file, dir, base, env }: BuildOptions): Promise<Image> {
  const stages = new Map<string, Image>()
  let image: Image | undefined
  const current = () => {
    if (!image) throw new Error('A Dockerfile begins with FROM.')
    return image
  }
  const steps: Record<string, (text: string) => Promise<unknown> | unknown> = {
    ARG: () => undefined,
    EXPOSE: () => undefined,
    async FROM(text) {
      const name = / AS (\S+)$/.exec(text)?.[1] ?? `stage-${stages.size}`
      const folder = join(dir, name)
      await bash(`cp -a ${base} ${folder} && cp /etc/resolv.conf ${folder}/etc/resolv.conf`, dir)
      image = {
        folder,
        env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' },
        workdir: '/',
        user: '0:0',
        volumes: [],
        entrypoint: [],
        command: [],
        health: [],
      }
      stages.set(name, image)
    },
    async WORKDIR(text) {
      current().workdir = text
      await bash(`mkdir -p ${current().folder}${text}`, dir)
    },
    async COPY(text) {
      const [, from, source, target] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text)!
      const place = join(current().folder, target === '.' ? current().workdir : target!)
      if (from) return await bash(`cp -a ${stages.get(from)!.folder}${source} ${place}`, dir)
      if (source !== '.') return await bash(`cp ${source} ${place}`, root)
      return await bash(`git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t ${place}`, root)
    },
    RUN: (text) => bash(runLine(current(), text, env), dir),
    ENV(text) {
      const at = text.indexOf('=')
      current().env[text.slice(0, at)] = text.slice(at + 1)
    },
    USER(text) {
      current().user = text
    },
    VOLUME: (text) => current().volumes.push(...(JSON.parse(text) as string[])),
    ENTRYPOINT(text) {
      current().entrypoint = JSON.parse(text)
    },
    CMD(text) {
      current().command = JSON.parse(text)
    },
    HEALTHCHECK(text) {
      current().health = JSON.parse(text.slice(text.indexOf('CMD ') + 4))
    },
  }
  for (const { name, text } of parseDockerfile(file)) {
    const step = steps[name]
    if (!step) throw new Error(`Nobody said here what ${name} does.`)
    await step(text)
  }
  return current()
}
