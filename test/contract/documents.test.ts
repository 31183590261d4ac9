/** The documents refer only to existing files, headings and source paths, and list all queues. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { encodeCommitData } from '../../src/chain/registry/abi.ts'
import { identifyingKeys } from '../../src/modules/assets/metadata.ts'
import type { CommitData } from '../../src/modules/commits/commits.ts'

const root = resolve(import.meta.dirname, '../..')
const documents = globSync(['*.md', '{docs,deploy,proofs,examples}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
})
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')

const anchorsOf = (path: string) =>
  [...read(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/\[(.*?)\]\(.*?\)/g, '$1')
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )

const brokenLinks = (document: string) =>
  [...withoutCode(read(document)).matchAll(/\]\((?!\w+:)([^)\s]*)\)/g)].flatMap(([, link]) => {
    const [path, anchor] = decodeURI(link!).split('#')
    const target = path ? join(dirname(document), path) : document
    if (!existsSync(join(root, target))) return [`${document}: ${link}`]
    return anchor && !anchorsOf(target).includes(anchor) ? [`${document}: ${link}`] : []
  })

const namesSources = (document: string) => !/^(CHANGELOG\.md|docs\/(decisions|releases|clients)\/)/.test(document)
const isThere = (document: string, path: string) =>
  ['', 'src', 'test', dirname(document)].some((folder) => existsSync(join(root, folder, path)))

const missingSources = (document: string) =>
  [...read(document).matchAll(/`((?!node_modules\/)[\w.-]+(?:\/[\w.-]+)+\.(?:ts|sol|sql|json|prisma))`/g)]
    .filter(([, path]) => !isThere(document, path!))
    .map(([, path]) => `${document}: ${path}`)

const records = globSync('docs/decisions/*.md', { cwd: root })
const numbers = records.map((path) => Number(/(\d+)-[^/]+$/.exec(path)![1]))

describe('decision records', () => {
  it('a decision record exists for every number in comments and documents', () => {
    const files = globSync(['{src,test,proofs,bench}/**/*.ts', 'prisma/**/*.{prisma,sql}'], { cwd: root })
    const named = [...files, ...documents.filter(namesSources)].flatMap((file) =>
      [...read(file).matchAll(/\bdecision \[?(\d+)/gi)].map(([, number]) => ({ file, number: Number(number) })),
    )
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter(({ number }) => !numbers.includes(number))).toEqual([])
  })
})

describe('documents', () => {
  it('the documents link only to existing files and headings', () => {
    expect(documents.length).toBeGreaterThan(40)
    expect(documents.flatMap(brokenLinks)).toEqual([])
  })

  it('the documents name only existing source files', () => {
    expect(documents.filter(namesSources).flatMap(missingSources)).toEqual([])
  })

  it('the documents describe each field of a commit on the chain, and how a tree identifies its file', () => {
    const reported = read('docs/reference/chain-format.md').split('## Layout')[1]!.split('\n## ')[0]!
    const [table, trees] = reported.split('A **tree** is')
    const written = new Proxy({} as CommitData, { get: () => '' })
    const names = [...table!.matchAll(/^- `(\w+)`:/gm)].map(([, name]) => name)
    expect(names).toEqual(Object.keys(JSON.parse(encodeCommitData(written))))
    expect(identifyingKeys.filter((name) => !trees!.includes(`\`${name}\``))).toEqual([])
  })
})
