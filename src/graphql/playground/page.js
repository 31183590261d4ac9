/**
 * Extends GraphiQL in the browser: copies values from responses to other tabs, and sends files. All sent values are
 * visible and editable in the editors.
 */

/** Creates a replacement for browser storage that lasts while the page is open. */
function temporaryStorage() {
  const items = new Map()
  return {
    getItem: (name) => items.get(String(name)) ?? null,
    setItem: (name, value) => void items.set(String(name), String(value)),
    removeItem: (name) => void items.delete(String(name)),
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    get length() {
      return items.size
    },
  }
}

// If the user blocks site data, access to browser storage throws an error. GraphiQL and this script both use it.
for (const name of ['localStorage', 'sessionStorage']) {
  try {
    void globalThis[name]
  } catch {
    Object.defineProperty(globalThis, name, { value: temporaryStorage() })
  }
}

/** Functions that find the values for placeholders such as `{{token}}` in a response. */
const sources = {
  token: (data) => data.signIn?.token,
  adminToken: (data) => data.administrator?.token,
  asset: (data) => data.registerAsset?.asset?.id,
  networkApp: (data) => data.createNetworkApp?.networkApp?.id,
  apiKey: (data) => data.issueApiKey?.key,
  order: (data) => data.createOrder?.order?.id,
}

const STORED = 'annal:known'
/** Known values by placeholder. They last while the browser tab is open. */
const known = new Map(JSON.parse(sessionStorage.getItem(STORED) ?? '[]'))
/** Placeholder names by previous value. */
const outdated = new Map()

/** Replaces placeholders and outdated values in a text. */
function complete(text) {
  let completed = text.replace(/\{\{(\w+)\}\}/g, (slot, name) => known.get(name) ?? slot)
  for (const [before, name] of outdated) completed = completed.replaceAll(before, known.get(name))
  return completed
}

/** Changes the editors for variables and headers. */
function edit(change) {
  for (const model of globalThis.monaco.editor.getModels()) {
    if (!/(variables|request-headers)\.json$/.test(model.uri.path)) continue
    const text = model.getValue()
    const changed = change(text)
    if (changed !== text) model.setValue(changed)
  }
}

/** Stores the values of a response that other tabs use. */
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
/** Selected files by name. */
const chosen = new Map()

/** Asks the user to select a file. */
const chooseFile = () =>
  new Promise((resolve, reject) => {
    const input = Object.assign(document.createElement('input'), { type: 'file' })
    input.addEventListener('change', () => resolve(input.files[0]))
    input.addEventListener('cancel', () => reject(new Error('No file was chosen.')))
    input.click()
  })

/** Returns the file of a variable such as `file:photo.png`. Asks the user if it is not selected yet. */
async function fileFor(variable) {
  const [, name] = FILE.exec(variable)
  if (chosen.has(name)) return chosen.get(name)
  const file = await chooseFile()
  chosen.set(file.name, file)
  edit((text) => text.replace(JSON.stringify(variable), () => JSON.stringify(`file:${file.name}`)))
  return file
}

/** Returns the paths of all variables that name a file. */
function* filesIn(value, path) {
  if (typeof value === 'string' && FILE.test(value)) yield path
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* filesIn(inner, [...path, key])
  }
}

/**
 * Returns the operation in the format of the GraphQL multipart request specification, or unchanged if no variable
 * names a file.
 */
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

/** Removes headers with unknown placeholders, such as the token before the sign-in. */
function withoutGaps(init) {
  const headers = [...new Headers(init.headers)].filter(([, value]) => !value.includes('{{'))
  return { ...init, headers: new Headers(headers) }
}

const sendRequest = globalThis.fetch
/** Replaces `fetch`, with which GraphiQL sends every operation. */
globalThis.fetch = async (url, init = {}) => {
  const request = withoutGaps(init)
  const response = await sendRequest(url, typeof init.body === 'string' ? await withFiles(request) : request)
  if (isJson(response)) {
    const { data } = await response.clone().json()
    if (data) learn(data)
  }
  return response
}

/** Returns the initial tabs with new random names. */
function openingTabs() {
  known.set('random', crypto.getRandomValues(new Uint32Array(1))[0].toString(36))
  const json = (value) => complete(JSON.stringify(value, null, 2))
  return globalThis.playgroundTabs.map(({ query, variables, headers }) => ({
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
  // GraphiQL uses only the document of the first initial tab. Returning users keep their own tabs.
  ...(localStorage.getItem('graphiql:tabState') === null && {
    initialVariables: opening[0].variables,
    initialHeaders: opening[0].headers,
  }),
  defaultHeaders: JSON.stringify({ Authorization: 'token {{token}}' }),
  defaultEditorToolsVisibility: 'variables',
  // Without this empty handler, GraphiQL would write the document into the page's URL, which servers log.
  onEditQuery() {},
  // The timeout lets the editors show the new tab first.
  onTabChange: () => setTimeout(() => edit(complete)),
})
