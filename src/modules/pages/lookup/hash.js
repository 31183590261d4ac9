/**
 * Script of the lookup page. It computes the hash of a selected file in chunks and submits the form with it. The
 * content security policy prevents any other network access.
 */

const form = document.querySelector('form')
const chooser = document.getElementById('choose')
const choice = document.getElementById('upload')
const bar = document.querySelector('progress')
const status = document.getElementById('status')

/** Number of the current selection. Hashing stops if another file is selected. */
let current = 0

/** Shows one of the page's messages. */
function showStatus(name, value = '') {
  status.textContent = name ? status.dataset[name].replace('{value}', value) : ''
}

/**
 * Returns the SHA-256 of a file in hexadecimal, or undefined if another file was selected meanwhile. Only one chunk
 * is in memory at a time.
 */
async function hash(file, turn) {
  const hasher = await globalThis.hashwasm.createSHA256()
  hasher.init()
  let [read, shownPercent] = [0, -1]
  for (const reader = file.stream().getReader(); ; ) {
    const { done, value } = await reader.read()
    if (turn !== current) {
      await reader.cancel()
      return undefined
    }
    if (done) return hasher.digest('hex')
    hasher.update(value)
    read += value.length
    bar.value = read / file.size
    const percent = Math.floor((read / file.size) * 10) * 10
    if (percent !== shownPercent) showStatus('reading', `${percent} %`)
    shownPercent = percent
  }
}

choice.addEventListener('change', async () => {
  current += 1
  const turn = current
  const [file] = choice.files
  bar.hidden = !file
  bar.value = 0
  showStatus()
  if (!file) return
  try {
    const digest = await hash(file, turn)
    if (digest === undefined) return
    form.elements.file.value = digest
    showStatus('done')
    form.requestSubmit()
  } catch {
    if (turn !== current) return
    bar.hidden = true
    showStatus('failed')
  }
})

// Clears the selection when the user returns to the page. Otherwise, selecting the same file again would not be a
// change event.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return
  current += 1
  choice.value = ''
  bar.hidden = true
  showStatus()
})

chooser.hidden = false
