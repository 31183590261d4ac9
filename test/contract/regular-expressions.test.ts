/**
 * A regular expression that looks for the end of a text at each beginning takes a time that grows with the square of what a stranger sends: a number of
 * 40,000 zeros kept the process busy for two seconds. All of ours are analysed, and those that only operators' texts come to are named with the reason.
 */
import { globSync, readFileSync } from 'node:fs'
import { analyse } from 'scslre'
import { expect, it } from 'vitest'
import { parseAst } from 'vitest/node'

const root = new URL('../../src/', import.meta.url)
const files = globSync('**/*.ts', { cwd: root })
  .filter((file) => !/^db\/prisma\/|\/generated\//.test(file))
  .sort()

interface Literal {
  pattern: string
  flags: string
}

function* literalsOf(node: unknown): Generator<Literal> {
  if (typeof node !== 'object' || node === null) return
  if ('regex' in node) yield node.regex as Literal
  for (const inner of Object.values(node)) yield* literalsOf(inner)
}

const isSlow = ({ pattern, flags }: Literal) => analyse({ source: pattern, flags }).reports.length > 0

const slowOf = (file: string, source: string) =>
  [...literalsOf(parseAst(source, { lang: 'ts' }, file))]
    .filter(isSlow)
    .map(({ pattern, flags }) => `${file}: /${pattern}/${flags}`)

const ofOperators = [
  'app.ts: /\\/+$/',
  'cli/import/import-server.ts: /\\/+$/',
  'config.ts: /\\/+$/',
  'config.ts: /\\/+$/',
  'config.ts: /\\/+$/',
]

it('no regular expression for untrusted input has super-linear run time', () => {
  expect(files.flatMap((file) => slowOf(file, readFileSync(new URL(file, root), 'utf8')))).toEqual(ofOperators)
})
