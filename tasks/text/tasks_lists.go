package text

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

var oneWord = shape(`\pL+`, "one word of letters only")

var listsFamily = family{
	"three-animals":    asCommas.items(count(3), distinct, eachItem(oneWord), eachItem(noun("an animal", animals))),
	"numbered-fruits":  numbered.items(count(5), distinct, eachItem(oneWord), eachItem(noun("a fruit", fruits))),
	"two-drinks":       bullets.items(count(2), distinct, eachItem(oneWord), eachItem(noun("a drink", drinks))),
	"bullets-of-three": bullets.items(count(4), distinct, eachItem(wordCount(3, 3))),
	"nested-list": outline(
		kind(`- \S.*`, `an item such as "- text"`), kind(`  - \S.*`, `a sub-item such as "  - text"`), kind(`  - \S.*`, `a sub-item such as "  - text"`),
		kind(`- \S.*`, `an item such as "- text"`), kind(`  - \S.*`, `a sub-item such as "  - text"`), kind(`  - \S.*`, `a sub-item such as "  - text"`)),
	"oxford-comma": exactly("We packed a tent, a rope, a stove, and a map."),
	"outline-letters": outline(
		kind(`I\. \S.*`, `"I. " and text`), kind(`   A\. \S.*`, `three blanks, "A. " and text`), kind(`   B\. \S.*`, `three blanks, "B. " and text`),
		kind(`II\. \S.*`, `"II. " and text`), kind(`   A\. \S.*`, `three blanks, "A. " and text`), kind(`   B\. \S.*`, `three blanks, "B. " and text`)),
	"task-list": all(outline(
		kind(`- \[x\] \S.*`, `a task that is done, "- [x] text"`), kind(`- \[x\] \S.*`, `a task that is done, "- [x] text"`),
		kind(`- \[ \] \S.*`, `an open task, "- [ ] text"`), kind(`- \[ \] \S.*`, `an open task, "- [ ] text"`), kind(`- \[ \] \S.*`, `an open task, "- [ ] text"`)),
		eachLine(part(`^- \[.\] (.*)$`, "", wordCount(2, 4)))),
}

var people = []string{"Ida 34", "Bo 27", "Zoe 41", "Max 27", "Amy 34", "Leo 19"}

var sortingFamily = family{
	"sort-four-words":   asCommas.sorted(strings.Compare, "pear", "apple", "mango", "fig"),
	"sort-seven-words":  asCommas.sorted(strings.Compare, "stone", "stamp", "state", "steam", "start", "stair", "store"),
	"smaller-first":     asCommas.sorted(func(a, b string) int { return rat(a).Cmp(rat(b)) }, "64", "19"),
	"sort-by-length":    asLines.sorted(func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }, "walnut", "elm", "maple", "oak", "cedar", "willow", "ash"),
	"sort-numbers-down": asCommas.sorted(func(a, b string) int { return -rat(a).Cmp(rat(b)) }, "3.5", "-2", "10", "0", "3.45", "-7", "9"),
	"sort-people":       asLines.sorted(byAgeThenName, people...),
	"sort-versions":     asLines.sorted(byVersion, "1.9.2", "1.10.0", "1.2.10", "1.2.9", "2.0.0", "1.10.0-rc1"),
}

// noun wants one of the words, in the singular or with a plain s, whatever its
// case. What is not a single word is told elsewhere.
func noun(what, list string) check {
	known := strings.Fields(list)
	return func(a answer) []string {
		w := strings.ToLower(a.text)
		if strings.Contains(w, " ") || slices.Contains(known, w) || slices.Contains(known, strings.TrimSuffix(w, "s")) {
			return nil
		}
		return []string{quote(a.text) + " is not " + what + " that is known here"}
	}
}

const (
	animals = `aardvark albatross alligator alpaca ant anteater antelope ape armadillo baboon badger bat bear beaver bee beetle bird bison boar
		buffalo bull butterfly camel canary caribou cat caterpillar chameleon cheetah chicken chimpanzee chipmunk clam cobra cockroach cod cow
		coyote crab crane cricket crocodile crow cuckoo deer dingo dog dolphin donkey dove dragonfly duck eagle eel elephant elk emu falcon ferret
		finch fish flamingo flea fly fox frog gazelle gecko gerbil giraffe gnat gnu goat goldfish goose gopher gorilla grasshopper grouse hamster
		hare hawk hedgehog hen heron herring hippo hippopotamus hornet horse hummingbird hyena ibex iguana impala jackal jaguar jellyfish kangaroo
		kiwi kitten koala lamb lark lemur leopard lion lizard llama lobster lynx macaw magpie mammoth manatee mole mongoose monkey moose mosquito
		moth mouse mule narwhal newt nightingale ocelot octopus opossum orangutan orca ostrich otter owl ox oyster panda panther parrot partridge
		peacock pelican penguin pheasant pig pigeon platypus pony porcupine possum puffin puma puppy python quail rabbit raccoon ram rat raven
		reindeer rhino rhinoceros robin rooster salamander salmon sardine scorpion seagull seahorse seal shark sheep shrew shrimp skunk sloth slug
		snail snake sparrow spider squid squirrel starfish stork swallow swan tapir tarantula termite tick tiger toad tortoise toucan trout tuna
		turkey turtle viper vole vulture wallaby walrus wasp weasel whale wolf wolverine wolves wombat woodpecker worm wren yak zebra`
	drinks = `ale beer cider cocktail cocoa coffee cola cordial eggnog espresso gin juice kefir kombucha latte lemonade liqueur martini mead milk
		milkshake mocha nectar punch rum sake sherry smoothie soda squash tea vodka water whiskey whisky wine`
	fruits = `apple apricot avocado banana bilberry blackberry blackcurrant blueberry cantaloupe cherries cherry clementine coconut cranberry currant
		damson date dragonfruit durian elderberry fig gooseberry grape grapefruit guava jackfruit kiwi kiwifruit kumquat lemon lime lychee mandarin
		mango mangoes melon mulberry nectarine olive orange papaya passionfruit peach peaches pear persimmon pineapple plantain plum pomegranate pomelo
		quince raspberry redcurrant starfruit strawberries strawberry tamarind tangerine watermelon`
)

// byAgeThenName puts the oldest first.
func byAgeThenName(a, b string) int {
	nameA, ageA, _ := strings.Cut(a, " ")
	nameB, ageB, _ := strings.Cut(b, " ")
	return cmp.Or(strings.Compare(ageB, ageA), strings.Compare(nameA, nameB))
}

// byVersion compares numbers as numbers; a release comes behind its candidate.
func byVersion(a, b string) int {
	a, candidateA, _ := strings.Cut(a, "-")
	b, candidateB, _ := strings.Cut(b, "-")
	listA, listB := strings.Split(a, "."), strings.Split(b, ".")
	for i := range listA {
		if c := cmp.Compare(atoi(listA[i]), atoi(listB[i])); c != 0 {
			return c
		}
	}
	switch {
	case candidateA == candidateB:
		return 0
	case candidateA == "":
		return 1
	}
	return -1
}

var sequenceFamily = family{
	"countdown":      asLines.items(right(append(backwards(10, 1), "Lift-off!")...)),
	"fizz-buzz":      asLines.items(right(mapped(fizzBuzz, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)...)),
	"collatz":        asCommas.strictly(eachItem(wholeNumber), collatz(13)),
	"star-triangle":  asLines.items(right("*", "**", "***", "****", "*****")),
	"next-number":    number("21"),
	"three-to-seven": asCommas.items(right(numbersFrom(3, 7)...)),
	"checkerboard":   asLines.items(right("#.#.#.", ".#.#.#", "#.#.#.", ".#.#.#")),
}

func backwards(hi, lo int) (out []string) {
	for n := hi; n >= lo; n-- {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

func fizzBuzz(n int) string {
	switch {
	case n%15 == 0:
		return "FizzBuzz"
	case n%3 == 0:
		return "Fizz"
	case n%5 == 0:
		return "Buzz"
	}
	return strconv.Itoa(n)
}

// collatz wants the sequence from start to 1: halve what is even, else treble
// it and add 1.
func collatz(start int64) func(lister, []string) []string {
	return func(l lister, items []string) []string {
		if items[0] != strconv.FormatInt(start, 10) {
			return []string{"item 1: want " + strconv.FormatInt(start, 10)}
		}
		for i, item := range items[1:] {
			before := atoi(items[i])
			want := before / 2
			if before%2 == 1 {
				want = 3*before + 1
			}
			switch {
			case before == 1:
				return []string{"it goes on behind 1"}
			case item != strconv.FormatInt(want, 10):
				return []string{l.noun + " " + strconv.Itoa(i+2) + ", " + quote(item) + ", does not follow from " + items[i]}
			}
		}
		if items[len(items)-1] != "1" {
			return []string{"it does not end with 1"}
		}
		return nil
	}
}
