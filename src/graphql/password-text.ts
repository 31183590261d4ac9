/** Description of an input field for a new password. */
export const newPasswordText =
  '8 to 32 characters, counted after Unicode normalization (NFC). All spaces count as U+0020. ' +
  'Control characters, invisible characters and unassigned characters are not allowed.'
