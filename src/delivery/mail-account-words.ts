/** The words of mails about accounts. `{name}` is filled in. */
import type { Language } from '../domain/language.ts'

const en = {
  'password-reset': {
    subject: 'Choose a new password',
    heading: 'Choose a new password',
    text: 'Somebody, most likely you, asked to reset the password of your account at {url}. Open this link to choose a new one.',
    button: 'Choose a new password',
    lasts: 'The link works once, for {duration}. If you ask again, only the newest link works.',
    notYou: 'If it was not you, do nothing: your password stays as it is.',
  },
  'password-changed': {
    subject: 'Your password was changed',
    heading: 'Your password was changed',
    text: 'The password of your account at {url} was changed. If it was you, there is nothing to do.',
    notYou:
      'If it was not you, choose a new password at once: where you sign in, ask to reset it, and give this e-mail address.',
  },
  'email-change-requested': {
    subject: 'Your account is to get another e-mail address',
    heading: 'Your account is to get another e-mail address',
    text: 'Somebody who knows its password asked to give your account at {url} another e-mail address. Nothing has changed yet: it does once the new address is confirmed. If it was you, there is nothing to do here.',
    notYou:
      'If it was not you, choose a new password at once: that stops the change. Where you sign in, ask to reset it, and give this e-mail address.',
  },
  'email-changed': {
    subject: 'Your e-mail address was changed',
    heading: 'Your e-mail address was changed',
    text: 'Your account at {url} has a new e-mail address. Mail about the account goes there from now on. If it was you, there is nothing to do.',
    notYou: 'If it was not you, get in touch at {url} at once, and give the account below.',
  },
  'email-verification': {
    subject: 'Confirm your e-mail address',
    heading: 'Confirm your e-mail address',
    text: 'This address was given for an account at {url}. Open this link to confirm that it is yours.',
    button: 'Confirm this address',
    lasts: 'The link works once, for {duration}.',
    notYou: 'If the account is not yours, do nothing: the address stays unconfirmed.',
  },
  'withdrawal-requested': {
    subject: 'Coins are withdrawn from your account',
    heading: 'Coins are withdrawn from your account',
    text: 'Somebody who knows its password asked to withdraw coins from your account at {url} to the address below. They are sent soon. If it was you, there is nothing to do.',
    notYou:
      'If it was not you, cancel the withdrawal at once, as long as nothing is signed for it, and choose a new password: where you sign in, ask to reset it, and give this e-mail address.',
  },
  'withdrawal-confirmed': {
    subject: 'Your withdrawal arrived',
    heading: 'Your withdrawal arrived',
    text: 'The coins that were withdrawn from your account at {url} arrived at the address below.',
    notYou: 'If it was not you, get in touch at {url} at once, and give the account below.',
  },
  'withdrawal-failed': {
    subject: 'Your withdrawal failed',
    heading: 'Your withdrawal failed',
    text: 'The coins that were to be withdrawn from your account at {url} could not be paid to the address below: it refuses them, or needs too much gas to take them. Amount and fee are back in your wallet.',
    keepsFee:
      'The coins that were to be withdrawn from your account at {url} could not be paid to the address below: it refuses them, or needs too much gas to take them. The amount is back in your wallet. The fee is not: the chain took it for the attempt.',
    notYou:
      'If it was not you who asked for it, choose a new password: where you sign in, ask to reset it, and give this e-mail address.',
  },
  'withdrawal-cancelled': {
    subject: 'Your withdrawal was cancelled',
    heading: 'Your withdrawal was cancelled',
    text: 'The withdrawal from your account at {url} was cancelled. Amount and fee are back in your wallet.',
    notYou:
      'If it was not you who asked for it, choose a new password: where you sign in, ask to reset it, and give this e-mail address.',
  },
  /** Before the link in full, below its button. */
  address: 'If the button does not work, open this address:',
  facts: {
    username: 'Account',
    newEmail: 'New e-mail address',
    time: 'Time',
    amount: 'Amount',
    fee: 'Fee',
    to: 'To the address',
    withdrawal: 'Withdrawal',
    dueAt: 'Can be cancelled until',
  },
  footer: 'You get this mail because this address was given for an account at {url}.',
}

/** The words that every language has for mails about accounts. */
export type AccountWords = typeof en

const zhTw: AccountWords = {
  'password-reset': {
    subject: '設定新密碼',
    heading: '設定新密碼',
    text: '有人（很可能是您本人）要求重設您在 {url} 的帳號密碼。請開啟下列連結設定新密碼。',
    button: '設定新密碼',
    lasts: '此連結僅能使用一次，有效時間為 {duration}。若您再次提出要求，則只有最新的連結有效。',
    notYou: '如果不是您本人，請忽略這封信，您的密碼不會變更。',
  },
  'password-changed': {
    subject: '您的密碼已變更',
    heading: '您的密碼已變更',
    text: '您在 {url} 的帳號密碼已變更。如果是您本人變更的，則無需進行任何操作。',
    notYou: '如果不是您本人，請立即設定新密碼：在登入處要求重設密碼，並輸入這個電子郵件地址。',
  },
  'email-change-requested': {
    subject: '您的帳號即將改用其他電子郵件地址',
    heading: '您的帳號即將改用其他電子郵件地址',
    text: '有人以您的密碼要求將您在 {url} 的帳號改用其他電子郵件地址。目前尚未變更，確認新地址後才會生效。如果是您本人要求的，則無需在此進行任何操作。',
    notYou: '如果不是您本人，請立即設定新密碼，即可停止變更：在登入處要求重設密碼，並輸入這個電子郵件地址。',
  },
  'email-changed': {
    subject: '您的電子郵件地址已變更',
    heading: '您的電子郵件地址已變更',
    text: '您在 {url} 的帳號已改用新的電子郵件地址，日後與帳號有關的信件將寄往新地址。如果是您本人變更的，則無需進行任何操作。',
    notYou: '如果不是您本人，請立即透過 {url} 與我們聯絡，並附上下列帳號。',
  },
  'email-verification': {
    subject: '確認您的電子郵件地址',
    heading: '確認您的電子郵件地址',
    text: '有人在 {url} 的帳號中填寫了這個地址。請開啟下列連結，確認這是您的地址。',
    button: '確認這個地址',
    lasts: '此連結僅能使用一次，有效時間為 {duration}。',
    notYou: '如果這不是您的帳號，請忽略這封信，這個地址不會被確認。',
  },
  'withdrawal-requested': {
    subject: '您的帳號正在提領款項',
    heading: '您的帳號正在提領款項',
    text: '有人以您的密碼要求從您在 {url} 的帳號提領款項至下列地址，款項即將送出。如果是您本人要求的，則無需進行任何操作。',
    notYou: '如果不是您本人，請在簽署前立即取消這筆提領，並設定新密碼：在登入處要求重設密碼，並輸入這個電子郵件地址。',
  },
  'withdrawal-confirmed': {
    subject: '您提領的款項已送達',
    heading: '您提領的款項已送達',
    text: '從您在 {url} 的帳號提領的款項已送達下列地址。',
    notYou: '如果不是您本人，請立即透過 {url} 與我們聯絡，並附上下列帳號。',
  },
  'withdrawal-failed': {
    subject: '您的提領失敗',
    heading: '您的提領失敗',
    text: '從您在 {url} 的帳號提領的款項無法付至下列地址：該地址拒絕接收，或接收時需要過多的 gas。金額與手續費已退回您的錢包。',
    keepsFee:
      '從您在 {url} 的帳號提領的款項無法付至下列地址：該地址拒絕接收，或接收時需要過多的 gas。金額已退回您的錢包。手續費已由區塊鏈收取，無法退回。',
    notYou: '如果不是您本人要求的，請設定新密碼：在登入處要求重設密碼，並輸入這個電子郵件地址。',
  },
  'withdrawal-cancelled': {
    subject: '您的提領已取消',
    heading: '您的提領已取消',
    text: '從您在 {url} 的帳號提領款項的要求已取消。金額與手續費已退回您的錢包。',
    notYou: '如果不是您本人要求的，請設定新密碼：在登入處要求重設密碼，並輸入這個電子郵件地址。',
  },
  address: '如果按鈕無法使用，請開啟此網址：',
  facts: {
    username: '帳號',
    newEmail: '新的電子郵件地址',
    time: '時間',
    amount: '金額',
    fee: '手續費',
    to: '收款地址',
    withdrawal: '提領',
    dueAt: '可取消至',
  },
  footer: '您收到這封信，是因為有人在 {url} 的帳號中填寫了這個地址。',
}

/** These words by language. */
export const accountWords: Record<Language, AccountWords> = { en, 'zh-TW': zhTw }
