/** The words of pages. `{name}` is filled in; a test holds the languages to each other. */
import { chooseLanguage, type Language } from '../domain/language.ts'
import { assetWords } from './asset/words.ts'
import { lookupWords } from './lookup/words.ts'

const en = {
  asset: assetWords.en,
  lookup: lookupWords.en,
  reset: {
    title: 'Choose a new password',
    intro: 'Type the new password for {email} twice. All devices that are signed in will be signed out.',
    password: 'New password',
    rule: '{min} to {max} characters.',
    again: 'New password, once more',
    button: 'Change password',
    problemTitle: 'Error: {title}',
    problems: 'Your password was not changed',
    missing: 'Type a new password.',
    tooShort: 'The password is too short. Use at least {min} characters.',
    tooLong: 'The password is too long. Use at most {max} characters.',
    unfit:
      'This password cannot be used. Choose another one. Control characters and invisible characters are not allowed.',
    missingAgain: 'Type the new password once more.',
    different: 'The two passwords are not the same. Type them again.',
    done: 'Your password was changed',
    doneText: 'All devices were signed out. Sign in again with your new password.',
    doneMail: 'A mail about this is on its way to you.',
    dead: 'This link does not work any more',
    deadWhy:
      'A link works once and for a short time, and only the newest one works. Your password was not changed by this.',
    deadNext:
      'To get a new link, ask again to reset your password where you sign in, and open the newest mail. If you have just changed your password, there is nothing to do: sign in with the new one.',
  },
  verify: {
    title: 'Confirm your e-mail address',
    intro: 'Confirm that {email} is your address, and the account {username} yours.',
    button: 'Confirm this address',
    done: 'Your e-mail address is confirmed',
    doneText: 'There is nothing more to do. You can close this page.',
    taken: 'This address belongs to another account',
    takenText: 'Somebody confirmed it for another account before. If that was you, sign in to that account.',
    dead: 'This link does not work any more',
    deadWhy: 'A link works once and for a limited time, and only for the address it was sent to.',
    deadNext:
      'If you have confirmed this address before, there is nothing to do. If not, ask for a new mail where you sign in, and open the newest one.',
  },
  refusal: {
    again: 'Wait a moment, then try again.',
    busy: 'Too many tries',
    busyText: 'Wait a few minutes, then open the link in your mail again.',
    down: 'This does not work right now',
    downText: 'Wait a moment, then open the link in your mail again.',
    unread: 'The form could not be read',
    unreadText: 'Open the link in your mail again, and fill in the form there.',
    unreadAgain: 'Go back, load the page again, and try once more.',
    missing: 'There is no page at this address',
    missingText: 'Part of the address may be missing or mistyped. If it came by mail, open the whole link.',
  },
}

/** The words that every language has for pages. */
export type PageWords = typeof en

const zhTw: PageWords = {
  asset: assetWords['zh-TW'],
  lookup: lookupWords['zh-TW'],
  reset: {
    title: '設定新密碼',
    intro: '請輸入兩次 {email} 的新密碼。變更後，所有已登入的裝置都會登出。',
    password: '新密碼',
    rule: '{min} 到 {max} 個字元。',
    again: '再次輸入新密碼',
    button: '變更密碼',
    problemTitle: '錯誤：{title}',
    problems: '密碼尚未變更',
    missing: '請輸入新密碼。',
    tooShort: '密碼太短，請至少使用 {min} 個字元。',
    tooLong: '密碼太長，請最多使用 {max} 個字元。',
    unfit: '無法使用這個密碼，請選擇其他密碼。密碼不得包含控制字元或不可見字元。',
    missingAgain: '請再次輸入新密碼。',
    different: '兩次輸入的密碼不同，請重新輸入。',
    done: '密碼已變更',
    doneText: '所有裝置都已登出，請使用新密碼重新登入。',
    doneMail: '我們已寄出一封通知信給您。',
    dead: '這個連結已失效',
    deadWhy: '連結只能在短時間內使用一次，而且只有最新的連結有效。您的密碼並未因此變更。',
    deadNext:
      '如需新的連結，請在登入處再次要求重設密碼，並開啟最新的信件。如果您剛剛已變更密碼，則無需進行任何操作，請使用新密碼登入。',
  },
  verify: {
    title: '確認您的電子郵件地址',
    intro: '請確認 {email} 是您的地址，而且 {username} 是您的帳號。',
    button: '確認這個地址',
    done: '您的電子郵件地址已確認',
    doneText: '無需再進行任何操作，您可以關閉此頁面。',
    taken: '這個地址屬於另一個帳號',
    takenText: '先前已有人為另一個帳號確認了這個地址。如果是您本人，請登入該帳號。',
    dead: '這個連結已失效',
    deadWhy: '連結只能在有限時間內使用一次，而且只適用於收到信件的地址。',
    deadNext:
      '如果您先前已確認過這個地址，則無需進行任何操作。如果尚未確認，請在登入處要求寄送新的信件，並開啟最新的一封。',
  },
  refusal: {
    again: '請稍候片刻，再試一次。',
    busy: '嘗試次數過多',
    busyText: '請稍候幾分鐘，再重新開啟信件中的連結。',
    down: '目前無法使用',
    downText: '請稍候片刻，再重新開啟信件中的連結。',
    unread: '無法讀取表單',
    unreadText: '請重新開啟信件中的連結，並在該頁面填寫表單。',
    unreadAgain: '請返回並重新載入頁面，再試一次。',
    missing: '這個網址沒有頁面',
    missingText: '網址可能不完整或輸入有誤。如果網址來自信件，請開啟完整的連結。',
  },
}

/** These words by language. */
export const pageWords: Record<Language, PageWords> = { en, 'zh-TW': zhTw }

/** The language a browser likes best of those that are written; English when it likes none. */
export function preferredLanguage(acceptLanguage: string): Language {
  const wishes = acceptLanguage
    .split(',', 32)
    .map((wish) => {
      const [tag = '', ...parameters] = wish.split(';').map((part) => part.trim())
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))
      return { tag, weight: weight ? Number(weight.slice(2)) : 1 }
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
  return chooseLanguage(wishes.map(({ tag }) => tag))
}

/** Puts values into a sentence. */
export const fillIn = (sentence: string, values: Record<string, string | number>): string =>
  sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
