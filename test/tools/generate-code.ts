/** Code generators that read the schema from the URL, each as its command line. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const modules = join(import.meta.dirname, '../../node_modules')

const operations = `
  query Me { me { id username wallet { num points } assets(first: 2) { nodes { id caption uploadedAt } } } }
  query Quote($input: QuoteInput!) { quote(input: $input) { total problems { code } } }
  mutation Rename($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id } } }
  subscription Commits($nid: ID!) { commitUpdated(nid: $nid) { id status } }
`

const usage = `import { type ErrorCode, MeDocument, type MeQuery } from './generated/graphql'

export const nameOf = ({ me }: MeQuery): string => me.username
export const dates = ({ me }: MeQuery): unknown[] => me.assets.nodes.map(({ uploadedAt }) => uploadedAt)
export const poor: ErrorCode = 'INSUFFICIENT_FUND'
export const kinds = MeDocument.definitions.map(({ kind }) => kind)
// @ts-expect-error: there is no such field.
export const wrong = ({ me }: MeQuery) => me.nickname
`

export async function generateCode(url: string, dir: string): Promise<{ sdl: string; manifest: string }> {
  await mkdir(join(dir, 'src'), { recursive: true })
  await symlink(modules, join(dir, 'node_modules'))
  const config = {
    schema: url,
    documents: 'src/**/*.graphql',
    generates: {
      'src/generated/': {
        preset: 'client',
        presetConfig: { persistedDocuments: { hashAlgorithm: 'sha256' } },
        documentTransforms: ['addTypenameSelectionDocumentTransform'],
        config: { useTypeImports: true },
      },
      'schema.graphql': { plugins: ['schema-ast'], config: { sort: true } },
    },
  }
  const configText = `const { addTypenameSelectionDocumentTransform } = require('@graphql-codegen/client-preset')
module.exports = ${JSON.stringify(config).replace(/"(addTypename\w+)"/, '$1')}
`
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, module: 'preserve', target: 'es2024' }
  await Promise.all([
    writeFile(join(dir, 'codegen.cjs'), configText),
    writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] })),
    writeFile(join(dir, 'src/operations.graphql'), operations),
    writeFile(join(dir, 'src/usage.ts'), usage),
  ])
  const bin = (name: string) => join(modules, '.bin', name)
  const say = (error: Error & { stdout?: string; stderr?: string }) => {
    throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`)
  }
  await run(bin('graphql-codegen'), ['--config', 'codegen.cjs'], { cwd: dir }).catch(say)
  await run(bin('tsc'), ['--project', '.'], { cwd: dir }).catch(say)
  return {
    sdl: await readFile(join(dir, 'schema.graphql'), 'utf8'),
    manifest: join(dir, 'src/generated/persisted-documents.json'),
  }
}
