/**
 * What the playground does besides GraphiQL, in the browser: it carries what an answer says over to the tabs that ask for it, and
 * sends files. What is sent stands in the editors, where people see and change it.
 */

/** What a browser keeps for a page, for as long as the page is open. */
function temporaryStorage() {
  const kept = new Map()
  return {
    getItem: (name) => kept.get(String(name)) ?? null,
    setItem: (name, value) => void kept.set(String(name), String(value)),
    removeItem: (name) => void kept.delete(String(name)),
    clear: () => kept.clear(),
    key: (index) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size
    },
  }
}

// A browser that is told to keep nothing for pages, cookies among it, raises an error for whoever asks; GraphiQL and we ask.
for (const name of ['localStorage', 'sessionStorage']) {
  try {
    void globalThis[name]
  } catch {
    Object.defineProperty(globalThis, name, { value: temporaryStorage() })
  }
}

/** Where an answer has what tabs ask for by these names, as `{{token}}`. */
const sources = {
  token: (data) => data.signIn?.token,
  adminToken: (data) => data.administrator?.token,
  asset: (data) => data.registerAsset?.asset?.id,
  firstCommit: (data) => data.registerAsset?.asset?.headId,
  networkApp: (data) => data.createNetworkApp?.networkApp?.id,
  apiKey: (data) => data.issueApiKey?.key,
  order: (data) => data.createOrder?.order?.id,
}

const STORED = 'annal:known'
/** What answers said so far, for as long as the browser's tab is open. */
const known = new Map(JSON.parse(sessionStorage.getItem(STORED) ?? '[]'))
/** What answers said before that, and by which name it is known now. */
const outdated = new Map()

/** Puts into a text what is known, also in the place of what was known before. */
function complete(text) {
  let completed = text.replace(/\{\{(\w+)\}\}/g, (slot, name) => known.get(name) ?? slot)
  for (const [before, name] of outdated) completed = completed.replaceAll(before, known.get(name))
  return completed
}

/** Changes what stands below the document: its variables and headers. */
function edit(change) {
  for (const model of globalThis.monaco.editor.getModels()) {
    if (!/(variables|request-headers)\.json$/.test(model.uri.path)) continue
    const text = model.getValue()
    const changed = change(text)
    if (changed !== text) model.setValue(changed)
  }
}

/** Learns what an answer says that other tabs ask for. */
function learn(data) {
  for (const [name, find] of Object.entries(sources)) {
    const value = find(data)
    if (typeof value !== 'string' || value === known.get(name)) continue
    if (known.has(name)) outdated.set(known.get(name), name)
    outdated.delete(value)
    known.set(name, value)
  }
  sessionStorage.setItem(STORED, JSON.stringify([...known]))
}

const FILE = /^file:(.*)$/
/** Files that were chosen, by their names. */
const chosen = new Map()

/** Has somebody choose a file. */
const chooseFile = () =>
  new Promise((resolve, reject) => {
    const input = Object.assign(document.createElement('input'), { type: 'file' })
    input.addEventListener('change', () => resolve(input.files[0]))
    input.addEventListener('cancel', () => reject(new Error('No file was chosen.')))
    input.click()
  })

/** The file that a variable such as `file:photo.png` names; one that nobody has chosen yet is asked for. */
async function fileFor(variable) {
  const [, name] = FILE.exec(variable)
  if (chosen.has(name)) return chosen.get(name)
  const file = await chooseFile()
  chosen.set(file.name, file)
  edit((text) => text.replace(JSON.stringify(variable), () => JSON.stringify(`file:${file.name}`)))
  return file
}

/** The paths of all variables that name a file. */
function* filesIn(value, path) {
  if (typeof value === 'string' && FILE.test(value)) yield path
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* filesIn(inner, [...path, key])
  }
}

/** An operation as the GraphQL multipart request specification has it, or as it is when no variable names a file. */
async function withFiles(init) {
  const operation = JSON.parse(init.body)
  const form = new FormData()
  const map = {}
  const files = []
  for (const path of [...filesIn(operation.variables, ['variables'])]) {
    const name = path.at(-1)
    const holder = path.slice(0, -1).reduce((value, key) => value[key], operation)
    files.push(await fileFor(holder[name]))
    holder[name] = null
    map[files.length] = [path.join('.')]
  }
  if (files.length === 0) return init
  form.set('operations', JSON.stringify(operation))
  form.set('map', JSON.stringify(map))
  for (const [index, file] of files.entries()) form.set(String(index + 1), file)
  const headers = new Headers(init.headers)
  headers.delete('content-type')
  headers.set('GraphQL-Require-Preflight', 'true')
  return { ...init, headers, body: form }
}

const isJson = (response) => /\bjson\b/.test(response.headers.get('content-type') ?? '')

/** What nobody has said yet is not sent: a token before the sign-in. */
function withoutGaps(init) {
  const headers = [...new Headers(init.headers)].filter(([, value]) => !value.includes('{{'))
  return { ...init, headers: new Headers(headers) }
}

const sendRequest = globalThis.fetch
/** GraphiQL sends every operation by this. */
globalThis.fetch = async (url, init = {}) => {
  const request = withoutGaps(init)
  const response = await sendRequest(url, typeof init.body === 'string' ? await withFiles(request) : request)
  if (isJson(response)) {
    const { data } = await response.clone().json()
    if (data) learn(data)
  }
  return response
}

/** Tabs as they are opened on, with names that nobody has yet. */
function openingTabs() {
  known.set('random', crypto.getRandomValues(new Uint32Array(1))[0].toString(36))
  const json = (value) => complete(JSON.stringify(value, null, 2))
  return globalThis.playgroundTabs.map(({ query, variables, headers = {} }) => ({
    query,
    variables: json(variables),
    headers: json(headers),
  }))
}

const opening = openingTabs()
globalThis.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), {
  title: 'Annal',
  endpoint: '/graphql',
  defaultTabs: opening,
  // Of the first tab GraphiQL takes the document alone. Whoever was here before gets back what they had.
  ...(localStorage.getItem('graphiql:tabState') === null && {
    initialVariables: opening[0].variables,
    initialHeaders: opening[0].headers,
  }),
  defaultHeaders: JSON.stringify({ Authorization: 'token {{token}}' }),
  defaultEditorToolsVisibility: 'variables',
  // Else the document would go into the address of the page, and with the next visit into logs.
  onEditQuery() {},
  // Once the tab stands in the editors.
  onTabChange: () => setTimeout(() => edit(complete)),
})
