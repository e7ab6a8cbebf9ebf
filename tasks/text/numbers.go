package text

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var plainNumber = regexp.MustCompile(`^-?\d{1,30}(\.\d{1,10})?$`)

// number wants one number and nothing else, equal to want: 12.50 is 12.5.
func number(want string) check {
	right := rat(want)
	return func(a answer) []string {
		if !plainNumber.MatchString(a.text) {
			return []string{"want one number in plain digits and nothing else, got " + quote(a.text)}
		}
		if rat(a.text).Cmp(right) != 0 {
			return []string{a.text + " is not the right result"}
		}
		return nil
	}
}

// rat reads a plain number.
func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(fmt.Sprintf("%q is no number", s)) // callers match plainNumber first
	}
	return r
}

var fractionForm = regexp.MustCompile(`^(\d{1,9})/(\d{1,9})$`)

// fraction wants num/den, in lowest terms.
func fraction(num, den int64) check {
	want := big.NewRat(num, den)
	return func(a answer) []string {
		m := fractionForm.FindStringSubmatch(a.text)
		if m == nil {
			return []string{"want one fraction such as 1/2 and nothing else, got " + quote(a.text)}
		}
		p, q := atoi(m[1]), atoi(m[2])
		switch {
		case q == 0:
			return []string{"the denominator is 0"}
		case new(big.Rat).SetFrac64(p, q).Cmp(want) != 0:
			return []string{a.text + " is not the right result"}
		case want.Denom().Int64() != q:
			return []string{a.text + " is not in lowest terms"}
		}
		return nil
	}
}

// atoi reads digits that a pattern has bounded.
func atoi(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err) // callers match digits first
	}
	return n
}

var equation = regexp.MustCompile(`^(\d{1,9}) ([+x×*-]) (\d{1,9}) = (-?\d{1,12})$`)

// equations wants n lines such as "3 + 4 = 7" with this operator, each of them
// true; more looks at the numbers of a line, from 1.
func equations(n int, op string, more func(line int, left, right, result int64) string) check {
	return func(a answer) []string {
		problems := lineCount(n, n)(a)
		for i, l := range a.lines[:min(len(a.lines), n)] {
			m := equation.FindStringSubmatch(l)
			if m == nil {
				problems = append(problems, fmt.Sprintf("line %d: want an equation such as \"3 + 4 = 7\", got %s", i+1, quote(l)))
				continue
			}
			left, right, result := atoi(m[1]), atoi(m[3]), atoi(m[4])
			sign := strings.NewReplacer("×", "x", "*", "x").Replace(m[2])
			if sign != op {
				problems = append(problems, fmt.Sprintf("line %d: the operator is %s, want %s", i+1, m[2], op))
			} else if apply(op, left, right) != result {
				problems = append(problems, fmt.Sprintf("line %d: %d %s %d is not %d", i+1, left, m[2], right, result))
			}
			if fault := more(i+1, left, right, result); fault != "" {
				problems = append(problems, fmt.Sprintf("line %d: %s", i+1, fault))
			}
		}
		return problems
	}
}

func apply(op string, a, b int64) int64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	}
	return a * b
}

// runningTotal wants n-th line "total + addend = new total", from 0 on.
func runningTotal(addends ...int64) check {
	return func(a answer) []string {
		before := int64(0)
		return equations(len(addends), "+", func(line int, left, right, result int64) string {
			start := before
			before = result
			switch {
			case left != start:
				return fmt.Sprintf("it starts with %d, want the total of the line before", left)
			case right != addends[line-1]:
				return fmt.Sprintf("it adds %d, want %d", right, addends[line-1])
			}
			return ""
		})(a)
	}
}

// expression wants an arithmetic expression that uses each of the numbers once
// and comes to want.
func expression(want int64, numbers ...int64) check {
	return func(a answer) []string {
		if len(a.text) > 200 || len(a.lines) > 1 {
			return []string{"want one expression on one line, of at most 200 characters"}
		}
		value, used, err := evaluate(a.text)
		if err != nil {
			return []string{err.Error()}
		}
		var problems []string
		left := slices.Clone(numbers)
		for _, n := range used {
			i := slices.Index(left, n)
			if i < 0 {
				problems = append(problems, fmt.Sprintf("%d is not one of the numbers that are left to use", n))
				continue
			}
			left = slices.Delete(left, i, i+1)
		}
		for _, n := range left {
			problems = append(problems, fmt.Sprintf("%d is not used", n))
		}
		if value.Cmp(big.NewRat(want, 1)) != 0 {
			problems = append(problems, fmt.Sprintf("the expression comes to %s, want %d", value.RatString(), want))
		}
		return problems
	}
}

// evaluate reads + - * / and brackets over whole numbers; × counts as *. used
// lists the numbers in order.
func evaluate(s string) (value *big.Rat, used []int64, err error) {
	p := &expr{rest: strings.ReplaceAll(s, "×", "*")}
	value, err = p.sum()
	if err == nil && p.peek() != 0 {
		err = fmt.Errorf("this is not an expression from %s on", quote(p.rest))
	}
	return value, p.used, err
}

// expr is a recursive-descent reader of expressions.
type expr struct {
	rest string
	used []int64
}

func (p *expr) peek() byte {
	p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *expr) sum() (*big.Rat, error) {
	return p.chain(p.product, func(op byte, a, b *big.Rat) (*big.Rat, error) {
		if op == '+' {
			return a.Add(a, b), nil
		}
		return a.Sub(a, b), nil
	}, '+', '-')
}

func (p *expr) product() (*big.Rat, error) {
	return p.chain(p.atom, func(op byte, a, b *big.Rat) (*big.Rat, error) {
		if op == '*' {
			return a.Mul(a, b), nil
		}
		if b.Sign() == 0 {
			return nil, errors.New("the expression divides by 0")
		}
		return a.Quo(a, b), nil
	}, '*', '/')
}

// chain reads operands between operators of one rank, from left to right.
func (p *expr) chain(operand func() (*big.Rat, error), do func(op byte, a, b *big.Rat) (*big.Rat, error), ops ...byte) (*big.Rat, error) {
	a, err := operand()
	for err == nil && slices.Contains(ops, p.peek()) {
		op := p.rest[0]
		p.rest = p.rest[1:]
		var b *big.Rat
		if b, err = operand(); err == nil {
			a, err = do(op, a, b)
		}
	}
	return a, err
}

func (p *expr) atom() (*big.Rat, error) {
	c := p.peek()
	if c == '(' {
		p.rest = p.rest[1:]
		v, err := p.sum()
		if err != nil {
			return nil, err
		}
		if p.peek() != ')' {
			return nil, errors.New("a bracket is not closed")
		}
		p.rest = p.rest[1:]
		return v, nil
	}
	n := 0
	for n < len(p.rest) && n < 9 && '0' <= p.rest[n] && p.rest[n] <= '9' {
		n++
	}
	if n == 0 {
		return nil, fmt.Errorf("this is not an expression from %s on", quote(p.rest))
	}
	v := atoi(p.rest[:n])
	p.rest = p.rest[n:]
	p.used = append(p.used, v)
	return big.NewRat(v, 1), nil
}

// coins wants a sum of coins of these kinds, in as few as fewest.
func coins(total, fewest int, kinds ...string) check {
	return asWords.strictly(eachItem(oneOf(kinds...)), func(l lister, items []string) []string {
		got := 0
		for _, c := range items[:min(len(items), 1000)] {
			got += int(atoi(c))
		}
		if got != total {
			return []string{fmt.Sprintf("the coins add up to %d, want %d", got, total)}
		}
		if len(items) > fewest {
			return []string{fmt.Sprintf("%d coins: it can be done with fewer", len(items))}
		}
		return nil
	})
}

func isPrime(s string) bool {
	n, err := strconv.Atoi(s)
	if err != nil || n < 2 {
		return false
	}
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}

// numbersFrom lists lo to hi as text.
func numbersFrom(lo, hi int) []string {
	var out []string
	for n := lo; n <= hi; n++ {
		out = append(out, strconv.Itoa(n))
	}
	return out
}
