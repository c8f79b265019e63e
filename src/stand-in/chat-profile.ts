import { z } from 'zod'

/** The part of the profile that is about ClientAsk. The interface leaves all of this open. */
export const chatProfile = {
  /** chatAskType Image without a file: only Video and Audio are said to need one. */
  imageWithoutFile: z.enum(['accepted', 'refused']).default('refused'),
  /**
   * How a message beyond RateLimitCount or MessageLimit is turned away: as a failure, or by an answer that says so, with
   * noAnswer true and no tokens.
   */
  tooManyMessages: z.enum(['refused', 'answered']).default('refused'),
  /** An answer knows of a write only after so many further requests; null: as List does (`listLag`). */
  answerLag: z.int().min(0).nullable().default(null),
  /** Whose messages RateLimitCount counts: those of one session, or of all sessions of the chatbot. */
  messagesCountedPer: z.enum(['session', 'chatbot']).default('session'),
  /** U17: how a stream looks. */
  stream: z
    .strictObject({
      /** JSON objects with nothing between, one a line, `data:` lines, or events (`data:` lines with a blank one after). */
      framing: z.enum(['bare', 'lines', 'data-lines', 'events']).default('events'),
      lineEnd: z.enum(['lf', 'crlf']).default('lf'),
      /** `data: {` or `data:{`. */
      blankAfterColon: z.boolean().default(true),
      /** A comment line (`: …`) before each piece; in data-lines and events only. */
      comments: z.boolean().default(false),
      /** `[DONE]` after the final object; not in bare. */
      done: z.boolean().default(false),
      /** Characters of the answer in one piece; 0: no pieces, the final object only. */
      pieceLength: z.int().min(0).default(12),
      /** Bytes in one write to the connection, wherever that cuts; null: one piece a write. */
      bytesPerWrite: z.int().min(1).nullable().default(null),
      /** Milliseconds before each write but the first. */
      pause: z.int().min(0).default(0),
    })
    .prefault({}),
}
