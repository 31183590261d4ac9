/** Configuration of the documentation site. `npm run docs` builds it into `dist-docs`. The service serves it at `/docs/`. */
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress'

type Renderer = Parameters<NonNullable<MarkdownOptions['config']>>[0]
type Token = ReturnType<Renderer['parse']>[number]

const root = resolve(import.meta.dirname, '../..')
const BASE = '/docs/'
const DECISIONS = 'docs/decisions'

/** Pages that are stored outside `docs`, with their paths on the site. */
const outsidePages: Record<string, string> = {
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'proofs/README.md': 'proofs.md',
  'src/db/read-compiler/README.md': 'read-compiler.md',
  'src/db/write-batching/README.md': 'write-batching.md',
  'src/graphql/fast-path/README.md': 'fast-path.md',
}

/** Returns the path of a page on the site. */
const pageOf = (source: string) =>
  outsidePages[source] ?? source.replace(/^docs\//, '').replace(/^README\.md$/, 'index.md')

/** Linked files that are not pages, such as `deploy/nginx/annal.conf`. The site contains copies of them in the folder `files`. */
const linkedFiles = new Set<string>()

/** Points a relative link to a page of the site, or to the copy of a file. Returns false if it leads to a folder, which the site cannot show. */
function rewriteLink(token: Token, folder: string): boolean {
  const [path, anchor] = token.attrGet('href')!.split('#')
  if (!path || /^\w+:/.test(path)) return true
  const target = relative(root, resolve(folder, decodeURI(path)))
  const source = target === DECISIONS ? join(DECISIONS, readdirSync(join(root, DECISIONS)).sort()[0]!) : target
  if (source.endsWith('.md')) {
    token.attrSet('href', `/${pageOf(source)}${anchor ? `#${anchor}` : ''}`)
    return true
  }
  if (statSync(join(root, source)).isDirectory()) return false
  linkedFiles.add(source)
  token.attrSet('href', `${BASE}files/${source}`)
  // With a target, the router of the site leaves the link to the browser.
  token.attrSet('target', '_self')
  return true
}

function rewriteLinks(md: Renderer): void {
  md.core.ruler.push('rewrite-links', ({ tokens, env }) => {
    const folder = dirname(env.realPath ?? env.path)
    for (const { children } of tokens) {
      let isKept = true
      for (const token of children ?? []) {
        if (token.type === 'link_open') isKept = rewriteLink(token, folder)
        if (isKept || !token.type.startsWith('link_')) continue
        token.hidden = true
        token.attrs = null
      }
    }
  })
}

/** Shows indented code, which contains commands and settings, like other code. The theme styles only fences. */
function styleIndentedCode(md: Renderer): void {
  md.core.ruler.push('style-indented-code', ({ tokens }) => {
    for (const token of tokens) if (token.type === 'code_block') Object.assign(token, { type: 'fence', info: 'sh' })
  })
}

/** Returns the anchor of a heading, as GitHub creates it. */
const slugify = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

function entryOf(source: string): DefaultTheme.SidebarItem {
  const [, title] = /^# (.+)$/m.exec(readFileSync(join(root, source), 'utf8'))!
  return { text: title!.replaceAll('`', ''), link: `/${pageOf(source).replace(/\.md$/, '')}` }
}

/** Returns the entries of the links in a line of `docs/README.md`. */
function entriesOf(line: string): DefaultTheme.SidebarItem[] {
  const sources = [...line.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => join('docs', path!))
  return sources.map((source) => {
    if (source !== DECISIONS) return entryOf(source)
    const records = readdirSync(join(root, source)).sort()
    return { text: 'Decisions', collapsed: true, items: records.map((name) => entryOf(join(source, name))) }
  })
}

/** Creates the sidebar from the sections, labels and links of `docs/README.md`. */
function createSidebar(): DefaultTheme.SidebarItem[] {
  const [, ...sections] = readFileSync(join(root, 'docs/README.md'), 'utf8').split(/^## /m)
  return sections.map((section) => {
    const [title, ...lines] = section.split('\n')
    const items = lines.flatMap((line) => {
      const [, label] = /^- \*\*(.+):\*\*/.exec(line) ?? []
      return label ? [{ text: label, collapsed: true, items: entriesOf(line) }] : entriesOf(line)
    })
    return { text: title, collapsed: false, items }
  })
}

export default defineConfig({
  ...{ title: 'Annal', description: 'Documentation of Annal', lang: 'en', base: BASE, cleanUrls: true },
  srcDir: '..',
  srcExclude: ['{README,AGENTS}.md', '!(docs|proofs|src)/**/*.md', '.*/**'],
  outDir: '../dist-docs',
  cacheDir: '../node_modules/.cache/vitepress',
  rewrites: pageOf,
  ignoreDeadLinks: 'localhostLinks',
  // Page data is a file and not an inline script, which the content security policy of the service forbids.
  metaChunk: true,
  // The policy also forbids the style sheet that would stop transitions while the color scheme changes.
  appearance: { disableTransition: false },
  vite: { build: { target: 'es2022' } },
  markdown: {
    config(md) {
      rewriteLinks(md)
      styleIndentedCode(md)
    },
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    sidebar: createSidebar(),
    outline: 'deep',
    search: { provider: 'local' },
  },
  buildEnd({ outDir }) {
    for (const file of linkedFiles) cpSync(join(root, file), join(outDir, 'files', file))
  },
})
