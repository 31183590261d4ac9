/**
 * Whatever a file exports, and every SQL statement, says beside itself what it is for. This test reads the sources, which the formatter keeps in one
 * shape: what is exported begins a line, and its docstring ends on the line before.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const isGenerated = (file: string) => /^src\/(platform\/prisma|(rest|pages)\/generated)\//.test(file)
const files = globSync('src/**/*.ts', { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !isGenerated(file))
  .sort()

const EXPORT =
  /^export (?:default )?(?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/
const STATEMENT = /^const (\w+) = statement\(/

/** The docstring that ends where this text does. */
function docstringAtEnd(text: string): string | undefined {
  const comment = text.endsWith('*/') ? text.slice(text.lastIndexOf('/*')) : ''
  return comment.startsWith('/**') && /\p{L}/u.test(comment) ? comment : undefined
}

/** What a file exports, and its statements, with the docstring right before each. */
function* declarationsOf(text: string): Generator<{ line: number; name: string; docstring: string | undefined }> {
  let before = ''
  let line = 0
  for (const each of text.split('\n')) {
    line += 1
    const name = (EXPORT.exec(each) ?? STATEMENT.exec(each))?.[1]
    if (name) yield { line, name, docstring: docstringAtEnd(before.slice(0, -1)) }
    before += `${each}\n`
  }
}

it('what a file exports has a docstring, and so has every statement', () => {
  const silent = files.flatMap((file) =>
    [...declarationsOf(readFileSync(new URL(file, root), 'utf8'))]
      .filter(({ docstring }) => !docstring)
      .map(({ line, name }) => `${file}:${line} ${name}`),
  )
  expect(silent, 'say right before each what it is for, its shapes and units, and the errors it raises').toEqual([])
})

it('a docstring is told from its absence', () => {
  const source = [
    '/** What a file is. */',
    "import { x } from './x.ts'",
    'export const bare = 1',
    '/** Says what for. */',
    'export async function told() {}',
    '// No docstring.',
    'export interface Commented {}',
    '/** One. */',
    'const own = 1',
    "const asked = statement('asked', {}, 'select')",
    'export type AfterAnother = number',
  ].join('\n')
  expect([...declarationsOf(source)].filter(({ docstring }) => !docstring).map(({ name }) => name)).toEqual([
    'bare',
    'Commented',
    'asked',
    'AfterAnother',
  ])
})
