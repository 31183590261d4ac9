/** What a reset token is good for, tried at the front door; and the same with the database's note of it undone. */
import { bytes, float, statement, text } from '../../src/domain/sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import type { Answer } from '../../test/support/http-client.ts'

interface Link {
  uid: string
  token: string
}

export interface ResetScene {
  database: ConnectedDatabase
  /** The status that a token gets. */
  me(token: string): Promise<number>
  /** Asks for a reset and reads the mail. */
  newReset(email: string): Promise<Link>
  post(path: string, body: object, headers?: object): Promise<Answer>
  password: string
  emailOf(name: string): string
}

const lifetime = statement(
  'proof_reset_lifetime',
  { columns: { seconds: float } },
  `select extract(epoch from expires_at - created_at)::float8 as seconds from one_time_tokens where purpose = 'PASSWORD_RESET'`,
)
const mine = `user_id = (select id from users where email = $email) and purpose = 'PASSWORD_RESET'`
const end = statement(
  'proof_reset_end',
  { parameters: { email: text } },
  `update one_time_tokens set expires_at = now() where ${mine}`,
)
const revive = statement(
  'proof_reset_revive',
  { parameters: { email: text } },
  `update one_time_tokens set expires_at = now() + interval '1 hour', used_at = null where ${mine}`,
)
const replace = statement(
  'proof_reset_replace',
  { parameters: { email: text, token: bytes } },
  `update one_time_tokens set hash = sha256($token) where ${mine}`,
)
const keepTokens = statement('proof_keep_tokens', {}, 'create table if not exists proof_kept as table access_tokens')
const restoreTokens = statement(
  'proof_restore_tokens',
  {},
  'insert into access_tokens select * from proof_kept on conflict do nothing',
)

/** Seconds. */
const LIFETIME = 30 * 60
let serial = 0
const nextPassword = () => {
  serial += 1
  return `password ${serial} of us`
}

const use = async ({ post }: ResetScene, link: Link): Promise<boolean> =>
  (await post('auth/users/reset_password_confirm/', { ...link, new_password: nextPassword() })).status === 204

const signIn = async ({ post, emailOf }: ResetScene, name: string, password: string) =>
  (await post('auth/token/login/', { email: emailOf(name), password })).body.auth_token as string

/** A sentence for each rule that is broken. Takes five accounts whose password is still the first one. */
export async function judgeResets(scene: ResetScene, names: readonly string[]): Promise<string[]> {
  const { newReset, emailOf, database, me, password } = scene
  const [single, newest, late, stranger, bystander] = names.map((name) => ({ name, email: emailOf(name) }))
  const reasons: string[] = []
  const must = (isSo: boolean, sentence: string) => {
    if (!isSo) reasons.push(sentence)
  }
  const tokens = [await signIn(scene, single!.name, password), await signIn(scene, single!.name, password)]
  const others = await signIn(scene, bystander!.name, password)
  const link = await newReset(single!.email)
  const foreign = await newReset(stranger!.email)
  must(!(await use(scene, { uid: link.uid, token: foreign.token })), 'A token reset the password of another account.')
  must(
    (await Promise.all(tokens.map(me))).every((status) => status === 200),
    'Sessions ended before the reset: the run is invalid.',
  )
  must(await use(scene, link), 'A fresh token was refused.')
  must(
    (await Promise.all(tokens.map(me))).every((status) => status === 401),
    'An access token outlived a reset.',
  )
  must((await me(others)) === 200, 'A reset ended the session of somebody else.')
  must(!(await use(scene, link)), 'A token was good twice.')

  const older = await newReset(newest!.email)
  const newer = await newReset(newest!.email)
  must(!(await use(scene, older)), 'A token was good after a newer one was sent.')
  must(await use(scene, newer), 'The newest token was refused.')

  const expired = await newReset(late!.email)
  await database.query(end, { email: late!.email })
  must(!(await use(scene, expired)), 'A token was good when its time was over.')
  const seconds = (await database.query(lifetime)).map((row) => row.seconds)
  const long = seconds.filter((each) => each > LIFETIME + 1)
  must(long.length === 0, `${long.length} tokens are good for more than half an hour.`)
  must(seconds.length > 0, 'No token is stored: the run is invalid.')
  return reasons
}

/** The controls: with its notes undone, the database makes tokens good again that must not be, and that must be seen. */
export async function breakRules(scene: ResetScene, name: string): Promise<string[]> {
  const { database, newReset, emailOf, me } = scene
  const email = emailOf(name)
  const reasons: string[] = []
  const link = await newReset(email)
  await use(scene, link)
  await database.query(revive, { email })
  if (!(await use(scene, link)))
    reasons.push('The control was not caught: a token that is good twice, and for an hour.')
  await database.query(revive, { email })
  await database.query(replace, { email, token: Buffer.from('an older one') })
  const older = { uid: link.uid, token: 'an older one' }
  if (!(await use(scene, older))) reasons.push('The control was not caught: an older token that is good.')

  const password = nextPassword()
  await database.query(revive, { email })
  await scene.post('auth/users/reset_password_confirm/', { ...older, new_password: password })
  const token = await signIn(scene, name, password)
  await database.query(keepTokens)
  await database.query(revive, { email })
  await use(scene, older)
  await database.query(restoreTokens)
  if ((await me(token)) !== 200) reasons.push('The control was not caught: an access token that outlives a reset.')
  return reasons
}
