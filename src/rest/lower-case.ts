/** A word of an enumeration as REST writes it. */
export const lowerCase = <Word extends string>(word: Word) => word.toLowerCase() as Lowercase<Word>
