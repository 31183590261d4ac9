/** The words of the page that looks files up. `{name}` is filled in. */
const en = {
  title: 'Is this file registered?',
  intro: 'Find out whether a file is registered here, as what, and since when.',
  choose: 'Choose a file',
  chooseText: 'It stays with you: your browser works out its SHA-256, and only that is sent.',
  progress: 'How much of the file was read',
  reading: 'Reading the file: {value}',
  done: 'The file was read. Looking it up…',
  failed: 'Your browser could not read the file. Work out its SHA-256 yourself, and give it below.',
  or: 'Or give its SHA-256 or CID',
  orText: '64 hexadecimal digits, as sha256sum tells them, or the identifier of an asset: bafkrei… or bafybei…',
  button: 'Look it up',
  wrong: 'This is neither a SHA-256 nor a CID. A SHA-256 has 64 digits of 0–9 and a–f.',
  problemTitle: 'Error: {title}',
  found: 'This file is registered',
  foundText:
    'What was registered, byte for byte, is the file with this hash. Who registered it says its history; whether that history is true can be checked there.',
  foundMany: 'It is registered {count} times, oldest first.',
  unknown: 'No public registration of this file is known here',
  unknownText:
    'This proves nothing. A file that was changed by one byte, that was made smaller, saved again or sent by a messenger, is another file. It may also be registered privately, which only its owner sees, or elsewhere.',
  asked: 'Asked for',
  registered: 'Registered',
  by: 'By',
  commits: 'Commits',
  chain: 'On the chain',
  link: 'Its history, and whether it is true',
  more: 'Later registrations',
  statuses: {
    PENDING: 'not yet sent',
    BROADCAST: 'sent, not yet in a block',
    INCLUDED: 'in a block, not yet settled',
    FINAL: 'settled',
    FAILED: 'never written; the charge was given back',
  },
}

/** The words that every language has for it. */
export type LookupWords = typeof en

const zhTw: LookupWords = {
  title: '這個檔案註冊過嗎？',
  intro: '查詢檔案是否已在這裡註冊、註冊為哪項資產，以及註冊的時間。',
  choose: '選擇檔案',
  chooseText: '檔案會留在您的裝置上：瀏覽器會算出它的 SHA-256，只會送出這個雜湊值。',
  progress: '已讀取的檔案比例',
  reading: '正在讀取檔案：{value}',
  done: '檔案已讀取完畢，正在查詢…',
  failed: '瀏覽器無法讀取這個檔案。請自行算出它的 SHA-256，並填入下方欄位。',
  or: '或輸入 SHA-256 或 CID',
  orText: '64 個十六進位數字，如 sha256sum 所示；或資產的識別碼：bafkrei… 或 bafybei…',
  button: '查詢',
  wrong: '這不是 SHA-256，也不是 CID。SHA-256 由 64 個 0–9 與 a–f 的字元組成。',
  problemTitle: '錯誤：{title}',
  found: '這個檔案已經註冊',
  foundText:
    '當時註冊的檔案，與具有此雜湊值的檔案逐位元組相同。註冊者是誰，請見它的歷史；這段歷史是否真實，也可以在那裡查證。',
  foundMany: '它註冊過 {count} 次，由舊到新排列。',
  unknown: '這裡查不到這個檔案的公開註冊紀錄',
  unknownText:
    '這不能證明任何事。只要更動一個位元組，例如縮小、重新儲存，或經由通訊軟體傳送，就是另一個檔案。它也可能是私人註冊，只有擁有者看得到，或註冊在其他地方。',
  asked: '查詢的值',
  registered: '註冊時間',
  by: '註冊者',
  commits: '紀錄數',
  chain: '區塊鏈狀態',
  link: '查看它的歷史，並查證是否真實',
  more: '較晚的註冊',
  statuses: {
    PENDING: '尚未送出',
    BROADCAST: '已送出，尚未進入區塊',
    INCLUDED: '已進入區塊，尚未確定',
    FINAL: '已確定',
    FAILED: '未寫入；費用已退還',
  },
}

/** The words by language. */
export const lookupWords = { en, 'zh-TW': zhTw }
