/** Operates the playground in a real browser with buttons and keys. */
import type { Page } from 'playwright-core'
import { listen } from './browser.ts'
import { eventually } from './eventually.ts'

export interface Visit {
  docs: { start: string; query: string; field: string; type: string }
  proposals: string[]
  prices: unknown
  me: unknown
  complaints: string[]
}

export type FileToChoose = { name: string; mimeType: string; buffer: Buffer }

type Look = (name: string) => Promise<unknown>

const textOf = async (page: Page, label: string) => {
  const lines = await page.locator(`section[aria-label="${label}"] .view-line`).allTextContents()
  return lines.join('\n').replaceAll('\u00a0', ' ')
}

async function isRead(page: Page): Promise<boolean> {
  const document = await heldBy(page, 'operation.graphql')
  return page.evaluate((document) => {
    const { tabs = [], activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}')
    return [localStorage.getItem('graphiql:query'), tabs[activeTabIndex]?.query].includes(document)
  }, document)
}

async function answerTo(page: Page): Promise<unknown> {
  // Suggestions may cover the button. An editor without focus shows none.
  await page.locator('section[aria-label="Result Window"]').click()
  await page.locator('.suggest-widget.visible').waitFor({ state: 'hidden' })
  await eventually(() => isRead(page), Boolean)
  const [answered] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    page.getByRole('button', { name: /^Execute query/ }).click(),
  ])
  const answer: unknown = await answered.json()
  await eventually(
    () => textOf(page, 'Result Window').then((text) => text.replaceAll(/\s/g, '')),
    (text) => text === JSON.stringify(answer).replaceAll(/\s/g, ''),
  )
  return answer
}

async function write(page: Page, label: string, text: string) {
  const editor = page.locator(`section[aria-label="${label}"] .monaco-editor:visible`).first()
  await editor.click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.press('Delete')
  await page.keyboard.type(text)
}

async function readDocs(page: Page, look: Look): Promise<Visit['docs']> {
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
  const docs = page.locator('.graphiql-doc-explorer')
  const reported = async (part: string) => {
    await docs.getByText(part).first().waitFor()
    return (await docs.textContent()) ?? ''
  }
  const start = await reported('Root Types')
  await look('docs')
  await docs.getByRole('link', { name: 'Query', exact: true }).click()
  const query = await reported('Fields')
  await docs.getByRole('link', { name: 'pricing', exact: true }).click()
  const field = await reported('Type')
  await docs.getByRole('link', { name: 'Pricing', exact: true }).click()
  const type = await reported('Fields')
  await look('docs-type')
  return { start, query, field, type }
}

export async function visitGraphiQL(page: Page, url: string, token: string, look: Look): Promise<Visit> {
  const { complaints } = listen(page)
  // Waits for the schema, which autocompletion requires.
  await Promise.all([page.waitForResponse((response) => response.request().method() === 'POST'), page.goto(url)])
  await page.getByRole('button', { name: /^Execute query/ }).waitFor()
  await look('start')
  const docs = await readDocs(page, look)

  await write(page, 'Operation Editor', '{ pric')
  const proposed = page.locator('.suggest-widget.visible .monaco-list-row')
  await proposed.first().waitFor()
  await look('proposals')
  const proposals = await proposed.evaluateAll((rows) => rows.map((row) => row.getAttribute('aria-label') ?? ''))
  await page.keyboard.press('Enter')
  await page.keyboard.type(' { total currency')
  const prices = await answerTo(page)
  await look('prices')

  await page.getByRole('button', { name: 'Headers', exact: true }).click()
  await write(page, 'Headers', `{ "Authorization": "token ${token}"`)
  await write(page, 'Operation Editor', '{ me { username')
  await look('headers')
  const me = await answerTo(page)
  await look('me')
  return { docs, proposals, prices, me, complaints }
}

type Editors = { editor: { getModels(): { uri: { path: string }; getValue(): string }[] } }

export interface RunTab {
  name: string
  variables: string
  headers: string
  // biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
  answer: any
}

const heldBy = (page: Page, file: string) =>
  page.evaluate((file) => {
    const { monaco } = globalThis as unknown as { monaco: Editors }
    return monaco.editor
      .getModels()
      .find(({ uri }) => uri.path.endsWith(file))!
      .getValue()
  }, file)

export async function runTabs(page: Page, url: string, file: FileToChoose, look: Look): Promise<RunTab[]> {
  page.on('filechooser', (chooser) => void chooser.setFiles(file))
  await page.goto(url)
  await page.getByRole('button', { name: /^Execute query/ }).waitFor()
  const tabs = page.getByRole('tab')
  await tabs.first().waitFor()
  const run: RunTab[] = []
  for (const tab of await tabs.all()) {
    const name = (await tab.locator('button').first().textContent())!
    await tab.locator('button').first().click()
    await eventually(
      () => textOf(page, 'Operation Editor'),
      (text) => text.includes(` ${name}(`),
    )
    const answer = await answerTo(page)
    const headers = await heldBy(page, 'request-headers.json')
    const variables = await heldBy(page, 'variables.json')
    await look(`tab-${run.length + 1}-${name}`)
    run.push({ name, variables, headers, answer })
  }
  return run
}
