package text

var wordsFamily = family{
	"sentence-two-words":   then(oneSentence, uses("river", "bread")),
	"sentence-at-most-ten": then(oneSentence, all(uses("kitchen", "lamp"), wordCount(3, 10))),
	"sentence-of-six":      then(oneSentence, all(uses("cat"), wordCount(6, 6))),
	"three-five-seven":     then(lineWise(wordCount(3, 3), wordCount(5, 5), wordCount(7, 7)), uses("snow")),
	"growing-words":        then(oneSentence, wordLengths(1, 2, 3, 4, 5, 6)),
	"two-paragraphs":       then(paragraphCount(2), all(eachParagraph(sentenceCount(2)), wordCount(30, 45), uses("bicycle"))),
	"echo-sentences":       then(oneLine, sentenceCount(2), all(eachSentence(wordCount(5, 10)), echo)),
	"sentence-yesterday":   then(oneSentence, all(begins("yesterday"), wordCount(4, 15))),
	"weather-question":     then(oneSentence, all(shape(`.*\?`, "a question, with ? at the end"), uses("weather"), wordCount(3, 12))),
	"sea-without-repeats":  then(oneSentence, all(wordCount(12, 12), distinctWords, uses("sea"))),
}

// echo wants the second sentence to begin with the first one's last word.
func echo(a answer) []string {
	list, _ := sentences(a.text)
	first, second := words(list[0]), words(list[1])
	if len(first) == 0 || len(second) == 0 || first[len(first)-1] != second[0] {
		return []string{"sentence 2 does not start with the last word of sentence 1"}
	}
	return nil
}

var lettersFamily = family{
	"no-letter-k":         then(oneSentence, all(uses("horse", "garden"), avoidsLetter('k'))),
	"five-letter-word":    then(shape(`[a-zA-Z]+`, "one word and nothing else"), all(wordsStart('b'), letterCount(5, 5))),
	"word-in-ing":         then(shape(`[a-zA-Z]+`, "one word and nothing else"), all(shape(`.*ing`, `it to end with "ing"`), letterCount(5, 20))),
	"dog-without-e":       then(oneSentence, all(uses("dog"), wordCount(8, 14), avoidsLetter('e'))),
	"six-s-words":         then(oneLine, all(wordCount(6, 6), wordsStart('s'), distinctWords)),
	"pangram-without-fox": then(oneSentence, all(pangram, avoids("fox"), letterCount(26, 60))),
	"five-times-o":        then(oneSentence, all(wordCount(5, 10), letterTimes('o', 5))),
	"only-vowel-a":        asLines.items(count(4), distinct, eachItem(shape(`[a-z]{3,}`, "one word of at least 3 lower-case letters")), eachItem(onlyVowel('a'))),
}

var acrosticFamily = family{
	"acrostic-river":  all(spells("line", "river", allLines, firstLetter), eachLine(wordCount(3, 7))),
	"acrostic-planet": then(oneSentence, spells("word", "planet", allWords, firstLetter)),
	"telestich-moon":  all(spells("line", "moon", allLines, lastLetter), eachLine(wordCount(2, 6))),
	"words-a-to-h":    then(oneLine, spells("word", "abcdefgh", allWords, firstLetter)),
}
