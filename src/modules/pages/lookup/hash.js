/**
 * What the page does besides its form, in the browser: it hashes a file that a person chooses, piece by piece, and sends the form with the
 * hash. The page's policy lets it send nothing else, and to nowhere else.
 */

const form = document.querySelector('form')
const chooser = document.getElementById('choose')
const choice = document.getElementById('upload')
const bar = document.querySelector('progress')
const status = document.getElementById('status')

/** Which choice is being read: one that was made since ends it. */
let current = 0

/** Has the person told one of the sentences that the page brought along. */
function tell(name, value = '') {
  status.textContent = name ? status.dataset[name].replace('{value}', value) : ''
}

/** The SHA-256 of a file in hex, or nothing when another one was chosen meanwhile. Memory holds one piece of it at a time. */
async function hash(file, turn) {
  const hasher = await globalThis.hashwasm.createSHA256()
  hasher.init()
  let [read, told] = [0, -1]
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
    if (percent !== told) tell('reading', `${percent} %`)
    told = percent
  }
}

choice.addEventListener('change', async () => {
  current += 1
  const turn = current
  const [file] = choice.files
  bar.hidden = !file
  bar.value = 0
  tell()
  if (!file) return
  try {
    const digest = await hash(file, turn)
    if (digest === undefined) return
    form.elements.file.value = digest
    tell('done')
    form.requestSubmit()
  } catch {
    if (turn !== current) return
    bar.hidden = true
    tell('failed')
  }
})

// Whoever comes back to the page chooses anew: choosing the file that is chosen already would be no change.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return
  current += 1
  choice.value = ''
  bar.hidden = true
  tell()
})

chooser.hidden = false
